import GLibSupport
import SecretService
import StoreSupport
import Synchronization
import TokenCache

/// An item that holds a shard, and what is in it.
struct KnownItem {
  let path: ObjectPath
  let document: CacheDocument
}

/// A group's writer, and where the last of them left what it worked on.
final class KeyringWriter: Sendable {
  let group: KeychainGroup
  let lock: GroupWriter
  private let memory = Mutex(Memory())

  private struct Memory {
    var generation: UInt64 = 0
    var writtenAt = ContinuousClock.now
    var items: [ShardID: KnownItem] = [:]
  }

  init(_ group: KeychainGroup, in directory: RuntimeDirectory) throws(CacheError) {
    self.group = group
    lock = try GroupWriter(
      directory: directory.path, name: String(sha256Hex(group.name).prefix(32)) + ".lock",
      variable: "XDG_RUNTIME_DIR", label: "llavero.keyring.writes", cancelled: KeyringAccess.cancelled,
      timedOut: KeyringAccess.timedOut)
  }

  /// Reads shards before they are changed. To be called by the lock's holder.
  ///
  /// Where nobody has written since this process did, the items are read without being searched for.
  func items(_ shards: [ShardID], in keyring: Keyring) throws(CacheError) -> GroupItems {
    do throws(CacheError) {
      if let known = known(shards), let items = try keyring.items(known) { return items }
    } catch {
      forget()
      throw error
    }
    return try keyring.items(.some(shards), of: group)
  }

  /// Lets the next write search for the items.
  func forget() { memory.withLock { $0 = Memory() } }

  private func known(_ shards: [ShardID]) -> [(shard: ShardID, item: KnownItem)]? {
    let generation = lock.file.generation
    return memory.withLock { memory in
      let age = (ContinuousClock.now - memory.writtenAt) / .seconds(1)
      guard memory.generation == generation, age <= TokenCacheAccessor.revalidationInterval else {
        return nil
      }
      let known = shards.compactMap { shard in memory.items[shard].map { (shard, $0) } }
      return known.count == shards.count ? known : nil
    }
  }

  /// Runs `body`, which changes items and says where they are then, between the two steps of the counter. To be
  /// called by the lock's holder.
  func write(_ body: () throws(CacheError) -> [ShardID: KnownItem]) throws(CacheError) {
    forget()
    lock.file.beginWrite()
    let items: [ShardID: KnownItem]
    do throws(CacheError) {
      items = try body()
    } catch {
      lock.file.endWrite()
      throw error
    }
    let generation = lock.file.endWrite()
    memory.withLock { $0 = Memory(generation: generation, items: items) }
  }
}
