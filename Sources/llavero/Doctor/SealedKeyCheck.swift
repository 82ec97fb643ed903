import Sealing
import TokenCache

/// Whether the key opens the store in files or in etcd. A passphrase is asked for where there is a terminal.
struct SealedKeyCheck: Check {
  static let name = "store_key"

  let store: any SealedStore

  func examine(_ patient: Patient) async -> [Finding] {
    do throws(CacheError) {
      return try await store.open(makingStore: false) ? [.ok("The key opens the store.")] : []
    } catch {
      guard error.code == .locked else { return [.problem(error)] }
      return [.warning("\(error.message) Nothing in the store could be looked at.", advice: error.toolAdvice)]
    }
  }
}
