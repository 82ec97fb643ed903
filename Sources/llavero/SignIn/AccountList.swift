import Configuration
import FoundationEssentials
import TokenCache

enum AccountList {
  /// Prints the accounts of a group, whatever the client: those with a user name or home account id, or all. An empty list is an
  /// error of code `interactionRequired`.
  static func print(
    _ cache: TokenCacheAccessor, named name: String?, _ output: OutputOptions
  ) async throws {
    let snapshot = try await cache.snapshot()
    let renewable = snapshot.renewableAccounts
    let accounts = try snapshot.accounts(named: name, of: nil).map {
      (account: $0, origin: AccountOrigin(of: $0, renews: renewable.contains($0.homeAccountID.lowercased())))
    }
    if !accounts.contains(where: { renewable.contains($0.account.homeAccountID.lowercased()) }),
      !accounts.map(\.account).areSignedIn(in: snapshot)
    {
      try snapshot.checkComplete()
      throw Failure.notSignedIn(name, in: snapshot)
    }
    if output.json {
      return try Terminal.out([
        "group": cache.group.name, "accounts": accounts.map(members),
        "problems": snapshot.problems.map(\.members),
      ])
    }
    output.report(snapshot.problems)
    Table.print(
      [
        .accounts("USERNAME", accounts.map(\.account.username)), .init("NAME", minimum: 12), "TENANTS",
        "ORIGIN",
        .init("ENVIRONMENT", minimum: 12), .init("HOME ACCOUNT ID", minimum: 9) { _ in .dim },
      ],
      rows: accounts.map { account, origin in
        [
          account.username ?? "-", account.tenantProfiles.lazy.compactMap(\.name).first ?? "-",
          "\(account.tenantProfiles.count)", origin.rawValue, account.environment, account.homeAccountID,
        ]
      })
  }

  private static func members(of account: Account, _ origin: AccountOrigin) -> Members {
    let profiles = account.tenantProfiles.map { profile -> Members in
      [
        "tenant_id": profile.tenantID, "local_account_id": profile.localAccountID,
        "username": profile.username, "name": profile.name, "is_home_tenant": profile.isHomeTenant,
      ]
    }
    return account.members + ["origin": origin, "tenant_profiles": profiles]
  }
}

extension [Account] {
  /// Whether there is an access token of one of them that has not expired, or any token of one of the broker's, which renews: an
  /// account's record and its ID token outlive its sign-in, and the broker's account is signed out where nothing is left.
  fileprivate func areSignedIn(in snapshot: CacheSnapshot) -> Bool {
    let ids = Dictionary(map { ($0.homeAccountID.lowercased(), $0.isBrokers) }) { $0 || $1 }
    return snapshot.document.listed(at: Date()).contains { record in
      let token = record.summary
      guard record.isCredential, let isBrokers = ids[token.homeAccountId?.lowercased() ?? ""] else {
        return false
      }
      return isBrokers || token.type == "AccessToken" && token.state == .valid
    }
  }
}

/// Where an account's tokens come from.
enum AccountOrigin: String, Encodable {
  /// The cache has its refresh token.
  case own
  /// The identity broker gives its tokens.
  case broker
  case both
  /// A lender gives its tokens.
  case lender

  init(of account: Account, renews: Bool) {
    self = account.isBrokers ? (renews ? .both : .broker) : .own
  }
}
