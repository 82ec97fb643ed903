import MSALExtensionsStore
import SecretService
import TokenCache

/// The token caches of other MSAL libraries on this machine.
struct PeerCaches: Sendable {
  var registry = PeerRegistry()
  var service = SecretServiceConnection()

  /// Removes all of them, whichever programs use them. One that cannot be removed does not stop the others.
  ///
  /// - Throws: Why the first that was left could not be removed.
  func wipe() async throws(CacheError) {
    var failure: CacheError?
    for peer in registry.caches {
      let store = MSALExtensionsCacheStore(
        peer, prompt: .allowed(waitingUpTo: .seconds(120)), client: service)
      do {
        // Looked at first: a program that was never here gets no lock file.
        guard try await store.isThere() else { continue }
        _ = try await store.remove(.everything, in: store.group)
      } catch {
        guard error.code != .cancelled else { throw error }
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }
}

extension PeerCaches {
  /// Those that a sign-out wipes; `nil` when it wipes none.
  init?(_ parameters: MSALSignoutParameters) {
    guard parameters.wipeCacheForAllAccounts, parameters.wipePeerCaches else { return nil }
  }
}

extension MSALExtensionsCacheStore {
  /// Whether the cache exists, readable or not.
  fileprivate func isThere() async throws(CacheError) -> Bool {
    do {
      return try await !groups().isEmpty
    } catch {
      guard error.code == .damaged else { throw error }
      return true
    }
  }
}
