import EncryptedFileStore
import FoundationEssentials
import TokenCache

/// Whether the file store keeps what it is given: writes, reads and removes a group of its own.
struct SealedProbeCheck: Check {
  static let name = "probe"

  let store: EncryptedFileCacheStore

  func examine(_ patient: Patient) async -> [Finding] {
    do throws(CacheError) {
      // No store is made for this.
      guard try await store.open() else { return [] }
      let probe = try StoreProbe(store)
      let directory = try store.path(of: probe.group)
      defer { try? FileManager.default.removeItem(atPath: directory) }
      guard let fault = try await probe.run() else { return [.ok("A group was written, read and removed.")] }
      return [.problem(fault, advice: "Look at the disk and its file system: journalctl -k")]
    } catch {
      // What is locked has been reported.
      return error.code == .locked ? [] : [.problem(error)]
    }
  }
}
