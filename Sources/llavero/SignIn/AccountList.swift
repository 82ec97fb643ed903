import TokenCache

/// All accounts of a group, whatever the client.
struct AccountList: Encodable {
  struct Account: Encodable {
    struct Profile: Encodable {
      let tenantId: String
      let localAccountId: String?
      let username: String?
      let name: String?
      let isHomeTenant: Bool
    }
    let homeAccountId: String
    let username: String?
    let environment: String
    let origin: AccountOrigin
    let tenantProfiles: [Profile]
  }
  let group: String
  let accounts: [Account]
  let problems: [ProblemSummary]

  private let storeProblems: [StoreProblem]

  private enum CodingKeys: CodingKey {
    case group, accounts, problems
  }

  /// - Parameters:
  ///   - options: The group.
  ///   - name: A user name or home account id: the accounts with that name alone.
  ///   - clientID: The accounts that are signed in to this client alone.
  ///   - isEmptyAllowed: Whether a list without accounts is a result.
  /// - Throws: `CacheError`; `Failure.Message` of code `interactionRequired` for an empty list that is not allowed.
  init(
    _ options: GroupOptions, named name: String? = nil, clientID: String? = nil, isEmptyAllowed: Bool = true
  ) async throws {
    let snapshot = try await options.cache.snapshot()
    let renewable = snapshot.renewableAccounts
    let accounts = try snapshot.accounts(AccountFilter(clientID: clientID)).named(name)
    if !isEmptyAllowed, accounts.isEmpty {
      try snapshot.checkComplete()
      throw Failure.Message.notSignedIn(name, in: snapshot)
    }
    group = options.group.name
    storeProblems = snapshot.problems
    problems = storeProblems.map(ProblemSummary.init)
    self.accounts = accounts.map {
      Account(
        homeAccountId: $0.homeAccountID, username: $0.username, environment: $0.environment,
        origin: AccountOrigin(of: $0, renews: renewable.contains($0.homeAccountID.lowercased())),
        tenantProfiles: $0.tenantProfiles.map {
          Account.Profile(
            tenantId: $0.tenantID, localAccountId: $0.localAccountID, username: $0.username, name: $0.name,
            isHomeTenant: $0.isHomeTenant)
        })
    }
  }

  func print(_ output: OutputOptions) throws {
    if output.json { return Terminal.out(try json(self)) }
    ProblemSummary.report(storeProblems)
    guard !accounts.isEmpty else { return Terminal.note("No account in \(group).") }
    var table = Table([
      .init(title: "USERNAME", minimum: 30), .init(title: "NAME", minimum: 12), .init(title: "TENANTS"),
      .init(title: "ORIGIN"), .init(title: "ENVIRONMENT", minimum: 12),
      .init(title: "HOME ACCOUNT ID", minimum: 9),
    ])
    for account in accounts {
      table.add([
        account.username ?? "-", account.tenantProfiles.lazy.compactMap(\.name).first ?? "-",
        "\(account.tenantProfiles.count)", account.origin.rawValue, account.environment,
        account.homeAccountId,
      ])
    }
    table.print { column, _ in column == 5 ? .dim : nil }
  }
}
