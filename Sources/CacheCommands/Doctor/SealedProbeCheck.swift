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
      let number = UInt64.random(in: 0...UInt64.max)
      let group = try KeychainGroup("org.llavero.probe.p\(String(number, radix: 16))")
      let directory = try store.path(of: group)
      defer { try? FileManager.default.removeItem(atPath: directory) }
      return [try await probe(group)]
    } catch {
      // What is locked has been reported.
      return error.code == .locked ? [] : [.problem(error)]
    }
  }

  private func probe(_ group: KeychainGroup) async throws(CacheError) -> Finding {
    let document = try CacheDocument(
      json: Data(#"{"AppMetadata": {"probe": {"client_id": "probe", "environment": "probe"}}}"#.utf8))
    let shards = document.split(in: group).map(\.shard)
    try await store.update(shards, in: group) { contents in
      for shard in shards { contents[shard] = document }
    }
    guard try await store.read(.all, in: group).documents.values.elementsEqual([document]) else {
      return .problem("The file store gives back other data than it was given.", advice: Self.advice)
    }
    let removed = try await store.remove(.everything, in: group)
    guard removed == 1, try await !store.groups().contains(group) else {
      return .problem("The file store still has a group that was removed.", advice: Self.advice)
    }
    return .ok("A group was written, read and removed.")
  }

  private static let advice = "Look at the disk and its file system: journalctl -k"
}
