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

/// Where the last writers of this process left the items that they worked on.
final class KnownItems: Sendable {
  fileprivate struct Entry {
    let generation: UInt64
    let writtenAt = ContinuousClock.now
    let items: [ShardID: KnownItem]
  }

  private let entries = Mutex<[KeychainGroup: Entry]>([:])

  fileprivate subscript(group: KeychainGroup) -> Entry? {
    get { entries.withLock { $0[group] } }
    set { entries.withLock { $0[group] = newValue } }
  }

  /// Lets the next write to a group search for the items.
  func forget(_ group: KeychainGroup) { self[group] = nil }
}

/// Reads and writes the items of a group while no other writer does.
struct KeyringWriter: Sendable {
  let group: KeychainGroup
  let lockFile: SharedLockFile
  let known: KnownItems

  /// Reads shards before they are changed. To be called by the lock's holder.
  ///
  /// Where nobody has written since this process did, the items are read without being searched for.
  func items(_ shards: [ShardID], in keyring: Keyring) throws(CacheError) -> GroupItems {
    do throws(CacheError) {
      if let known = knownItems(shards), let items = try keyring.items(known) { return items }
    } catch {
      known.forget(group)
      throw error
    }
    return try keyring.items(.some(shards), of: group)
  }

  private func knownItems(_ shards: [ShardID]) -> [(shard: ShardID, item: KnownItem)]? {
    // On a network file system the number is always the same odd one.
    guard let entry = known[group], entry.generation.isMultiple(of: 2),
      entry.generation == lockFile.generation,
      (ContinuousClock.now - entry.writtenAt) / .seconds(1) <= TokenCacheAccessor.revalidationInterval
    else { return nil }
    let items = shards.compactMap { shard in entry.items[shard].map { (shard, $0) } }
    return items.count == shards.count ? items : nil
  }

  /// Runs `body`, which changes items and says where they are then, between the two steps of the counter. To be
  /// called by the lock's holder.
  func write(_ body: () throws(CacheError) -> [ShardID: KnownItem]) throws(CacheError) {
    known.forget(group)
    lockFile.beginWrite()
    let items: [ShardID: KnownItem]
    do throws(CacheError) {
      items = try body()
    } catch {
      lockFile.endWrite()
      throw error
    }
    known[group] = KnownItems.Entry(generation: lockFile.endWrite(), items: items)
  }
}
