import TokenCache

/// All accounts of a group, whatever the client.
struct AccountList {
  private let group: String
  private let accounts: [(account: Account, origin: AccountOrigin)]
  private let problems: [StoreProblem]

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
    problems = snapshot.problems
    self.accounts = accounts.map {
      ($0, AccountOrigin(of: $0, renews: renewable.contains($0.homeAccountID.lowercased())))
    }
  }

  private func printJSON() throws {
    let list = accounts.map { account, origin -> Members in
      let profiles = account.tenantProfiles.map { profile -> Members in
        [
          "tenant_id": profile.tenantID, "local_account_id": profile.localAccountID,
          "username": profile.username, "name": profile.name, "is_home_tenant": profile.isHomeTenant,
        ]
      }
      return [
        "home_account_id": account.homeAccountID, "username": account.username,
        "environment": account.environment, "origin": origin, "tenant_profiles": profiles,
      ]
    }
    try Terminal.out(["group": group, "accounts": list, "problems": problems.map(ProblemSummary.init)])
  }

  func print(_ output: OutputOptions) throws {
    if output.json { return try printJSON() }
    ProblemSummary.report(problems)
    guard !accounts.isEmpty else { return Terminal.note("No account in \(group).") }
    Table(
      [
        .init("USERNAME", minimum: 30), .init("NAME", minimum: 12), "TENANTS", "ORIGIN",
        .init("ENVIRONMENT", minimum: 12), .init("HOME ACCOUNT ID", minimum: 9) { _ in .dim },
      ],
      rows: accounts.map { account, origin in
        [
          account.username ?? "-", account.tenantProfiles.lazy.compactMap(\.name).first ?? "-",
          "\(account.tenantProfiles.count)", origin.rawValue, account.environment, account.homeAccountID,
        ]
      }
    ).print()
  }
}

/// How an account came to be listed.
enum AccountOrigin: String, Encodable {
  /// The cache has its refresh token.
  case own
  /// The identity broker gives its tokens.
  case broker
  case both
  /// A lender gives its tokens.
  case lender

  /// - Parameters:
  ///   - account: The account.
  ///   - renews: Whether the cache has its refresh token.
  init(of account: Account, renews: Bool) {
    self = account.isBrokers ? (renews ? .both : .broker) : .own
  }
}
