import MSALExtensionsStore
import SecretService
import TokenCache

struct PeerCaches: Sendable {
  var registry = PeerRegistry()
  var service = SecretServiceConnection()

  /// Removes all of them. A failure does not stop the others; the first is thrown.
  func wipe() async throws(CacheError) {
    var failure: CacheError?
    for peer in registry.caches {
      let store = MSALExtensionsCacheStore(peer, prompt: .allowed(), client: service)
      do {
        // Checked first: a program that was never used here gets no lock file.
        guard try await store.exists() else { continue }
        _ = try await store.remove(.everything, in: store.group)
      } catch  where error.code != .cancelled {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }
}

extension PeerCaches {
  /// Makes the caches that a sign-out wipes; `nil` when it wipes none.
  init?(_ parameters: MSALSignoutParameters) {
    guard parameters.wipeCacheForAllAccounts, parameters.wipePeerCaches else { return nil }
  }
}

extension MSALExtensionsCacheStore {
  /// Whether the cache exists, readable or not.
  fileprivate func exists() async throws(CacheError) -> Bool {
    do {
      return try await !groups().isEmpty
    } catch  where error.code == .damaged {
      return true
    }
  }
}
