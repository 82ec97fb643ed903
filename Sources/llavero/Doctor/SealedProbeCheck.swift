import EtcdStore
import Sealing
import TokenCache

/// Whether the store in files or in etcd keeps what it is given: writes, reads and removes a group of its own.
struct SealedProbeCheck: Check {
  static let name = "probe"

  let store: any SealedStore

  func examine(_ patient: Patient) async throws -> [Finding] {
    // No store is made for this.
    guard try await store.open(makingStore: false) else { return [] }
    guard let fault = try await StoreProbe(store).run() else {
      return [.ok("A group was written, read and removed.")]
    }
    let place = store is EtcdCacheStore ? "etcd's log" : "the disk and its file system: journalctl -k"
    return [.problem(fault, advice: "Look at \(place)")]
  }
}
