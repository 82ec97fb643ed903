import EncryptedFileStore
import FoundationEssentials
import Sealing
import TokenCache

/// Whether the store in files or in etcd keeps what it is given: writes, reads and removes a group of its own.
struct SealedProbeCheck: Check {
  static let name = "probe"

  let store: any SealedStore

  func examine(_ patient: Patient) async throws -> [Finding] {
    // No store is made for this.
    guard try await store.open(makingStore: false) else { return [] }
    let probe = try StoreProbe(store)
    // A directory stays when its files are gone.
    let directory = try (store as? EncryptedFileCacheStore)?.path(of: probe.group)
    defer { if let directory { try? FileManager.default.removeItem(atPath: directory) } }
    guard let fault = try await probe.run() else { return [.ok("A group was written, read and removed.")] }
    let place = directory == nil ? "etcd's log" : "the disk and its file system: journalctl -k"
    return [.problem(fault, advice: "Look at \(place)")]
  }
}
