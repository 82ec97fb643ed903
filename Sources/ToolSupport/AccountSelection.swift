package import IdentityClient
package import TokenCache

extension PublicClient {
  /// The accounts that are signed in to this client, or those of them that go by a user name or home account
  /// id.
  ///
  /// - Throws: `Failure.Message`.
  package func accounts(named name: String?) async throws(Failure.Message) -> [Account] {
    do throws(IdentityError) {
      guard let name else { return try await accounts() }
      var filters = [AccountFilter(homeAccountID: name), AccountFilter(username: name)]
      // Ids have an @ only at authorities without tenants, and few user names have none.
      if name.contains("@") { filters.reverse() }
      for filter in filters {
        let accounts = try await accounts(filter)
        if !accounts.isEmpty { return accounts }
      }
      return []
    } catch {
      throw Failure.Message(error)
    }
  }

  /// The account that a command is about.
  ///
  /// - Throws: `Failure.Message`: of code `interactionRequired` when nobody is signed in, and `usage` when
  ///   several are and none is named.
  package func account(named name: String?) async throws(Failure.Message) -> Account {
    let accounts = try await accounts(named: name)
    guard let account = accounts.first else {
      throw .notSignedIn(name)
    }
    guard accounts.count == 1 else {
      let names = accounts.map { ($0.username.map { "\($0), " } ?? "") + $0.homeAccountID }
      throw Failure.Message(
        code: .usage, name: "ambiguous", message: "\(accounts.count) accounts are signed in.",
        advice: "Choose one with --account: " + names.joined(separator: "; ") + ".")
    }
    return account
  }
}

extension Failure.Message {
  /// Nobody, or not the one who is named.
  package static func notSignedIn(_ name: String?) -> Failure.Message {
    Failure.Message(
      code: .interactionRequired, name: "not_signed_in",
      message: name.map { "\($0) is not signed in." } ?? "Nobody is signed in.",
      advice: "Sign in with \"llavero login\".")
  }
}
