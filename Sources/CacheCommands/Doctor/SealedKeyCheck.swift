import EncryptedFileStore
import TokenCache
import ToolSupport

/// Whether the key opens the file store. A passphrase is asked for where there is a terminal.
struct SealedKeyCheck: Check {
  static let name = "store_key"

  let store: EncryptedFileCacheStore

  func examine(_ patient: Patient) async -> [Finding] {
    do throws(CacheError) {
      return try await store.open() ? [.ok("The key opens the file store.")] : []
    } catch {
      guard error.code == .locked else { return [.problem(error)] }
      return [.warning("\(error.message) Nothing in the store could be looked at.", advice: error.toolAdvice)]
    }
  }
}
