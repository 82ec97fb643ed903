import EncryptedFileStore
import EtcdStore
import FoundationEssentials
import TokenCache

/// Whether a store keeps what it is given: writes, reads and removes a group of its own.
struct StoreProbe {
  private let group: KeychainGroup
  private let store: any CacheStore

  init(_ store: any CacheStore) throws(CacheError) {
    self.store = store
    group = try KeychainGroup("org.llavero.probe.p\(String(UInt64.random(in: 0...UInt64.max), radix: 16))")
  }

  /// - Returns: What the store does wrong, `nil` when all is well.
  func run() async throws(CacheError) -> String? {
    // A directory stays when its files are gone.
    let directory = try (store as? EncryptedFileCacheStore)?.path(of: group)
    defer { if let directory { try? FileManager.default.removeItem(atPath: directory) } }
    do throws(CacheError) {
      return try await fault()
    } catch {
      _ = try? await store.remove(.everything, in: group)
      try? await (store as? EtcdCacheStore)?.forget(group)
      throw error
    }
  }

  private func fault() async throws(CacheError) -> String? {
    let document = try CacheDocument(
      json: Data(#"{"AppMetadata": {"probe": {"client_id": "probe", "environment": "probe"}}}"#.utf8))
    let shards = document.split(in: group).map(\.shard)
    try await store.update(shards, in: group) { contents in
      for shard in shards { contents[shard] = document }
    }
    let read = try await store.read(.all, in: group).documents
    let removed = try await store.remove(.everything, in: group)
    try await (store as? EtcdCacheStore)?.forget(group)
    guard read.values.elementsEqual([document]) else {
      return "The store gives back other data than it was given."
    }
    guard removed == 1, try await !store.groups().contains(group) else {
      return "The store still has a group that was removed."
    }
    return nil
  }
}
