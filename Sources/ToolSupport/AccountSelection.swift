package import IdentityClient
package import TokenCache

extension PublicClient {
  /// The account that a command is about.
  ///
  /// - Throws: `Failure.Message`: of code `interactionRequired` when nobody is signed in, and `usage` when
  ///   several are and none is named.
  package func account(named name: String?) async throws(Failure.Message) -> Account {
    // Ids have an @ only at authorities without tenants. One needs a look at that account alone.
    if let name, !name.contains("@"), let account = try await account(id: name) { return account }
    return try await snapshot().account(named: name, of: configuration.clientID)
  }

  /// What the client's group holds.
  ///
  /// - Throws: `Failure.Message`.
  package func snapshot() async throws(Failure.Message) -> CacheSnapshot {
    do throws(CacheError) {
      return try await cache.snapshot()
    } catch {
      throw Failure.Message(error)
    }
  }

  private func account(id: String) async throws(Failure.Message) -> Account? {
    do throws(IdentityError) {
      return try await accounts(AccountFilter(homeAccountID: id)).first
    } catch {
      throw Failure.Message(error)
    }
  }
}

extension CacheSnapshot {
  /// The accounts that are signed in to a client, or those of them that go by a user name or home account id.
  ///
  /// - Throws: `Failure.Message` where there is none and something cannot be read.
  package func accounts(named name: String?, of clientID: String) throws(Failure.Message) -> [Account] {
    do throws(CacheError) {
      guard let name else { return try accounts(AccountFilter(clientID: clientID)) }
      var filters = [
        AccountFilter(clientID: clientID, homeAccountID: name),
        AccountFilter(clientID: clientID, username: name),
      ]
      // Few user names have no @.
      if name.contains("@") { filters.reverse() }
      for filter in filters {
        if let found = try? accounts(filter), !found.isEmpty { return found }
      }
      try checkComplete()
      return []
    } catch {
      throw Failure.Message(error)
    }
  }

  /// The one account that goes by a name or, without one, is signed in to a client.
  ///
  /// - Throws: `Failure.Message`: of code `interactionRequired` when nobody is signed in, and `usage` when
  ///   several are and none is named; also when none is named and something cannot be read, which may be another.
  package func account(named name: String?, of clientID: String) throws(Failure.Message) -> Account {
    let accounts = try accounts(named: name, of: clientID)
    guard let account = accounts.first else { throw .notSignedIn(name) }
    guard accounts.count == 1 else {
      let names = accounts.map { ($0.username.map { "\($0), " } ?? "") + $0.homeAccountID }
      throw Failure.Message(
        code: .usage, name: "ambiguous", message: "\(accounts.count) accounts are signed in.",
        advice: "Choose one with --account: " + names.joined(separator: "; ") + ".")
    }
    if name == nil { try checkAll() }
    return account
  }

  /// Passes only where nothing of the group is out of sight.
  ///
  /// - Throws: `Failure.Message`.
  package func checkAll() throws(Failure.Message) {
    do throws(CacheError) {
      try checkComplete()
    } catch {
      throw Failure.Message(error)
    }
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
