import FoundationEssentials
import Sealing
import TokenCache

/// The current version of each file of a group, by which an older file is recognized.
struct Manifest: Equatable {
  /// The number of the group's last write.
  var sequence: UInt64
  /// For each shard, in the order of their ids, the 16 bytes of its id and the 8 of its sequence number.
  private(set) var entries: [UInt8] = []

  private static let entrySize = 24

  /// The bytes of the manifest's id, which is no shard's.
  static let name = [UInt8](repeating: 0, count: SealedFormat.nameSize)

  /// Makes a manifest without shards.
  init(sequence: UInt64) { self.sequence = sequence }

  init(_ opened: SealedFormat.Opened) throws(SealError) {
    guard opened.contents.count.isMultiple(of: Self.entrySize) else {
      throw .unreadable("the manifest is truncated.")
    }
    sequence = opened.sequence
    entries = Array(opened.contents)
    for start in stride(from: 0, to: entries.count, by: Self.entrySize) {
      let isInOrder =
        start == 0
        || entries[(start - Self.entrySize)..<start - 8].lexicographicallyPrecedes(
          entries[start..<start + 16])
      guard isInOrder, entries.bigEndian(at: start + 16) <= sequence else {
        throw .unreadable("its entries are not in order.")
      }
    }
  }

  /// A number above all earlier ones of the group: that of a lost manifest is unknown, and an old file must not be
  /// accepted as current. In microseconds since 1970; no group is written that often.
  static var newSequence: UInt64 { UInt64(max(Date().timeIntervalSince1970, 0) * 1_000_000) }

  var shards: [ShardID] {
    stride(from: 0, to: entries.count, by: Self.entrySize).map { ShardID(bytes: entries[$0..<$0 + 16]) }
  }

  /// The sequence number of a shard's file; `nil` if the shard has no file.
  subscript(shard: ShardID) -> UInt64? {
    get {
      guard let id = shard.bytes else { return nil }
      let place = place(of: id)
      guard isEntry(id, at: place) else { return nil }
      return entries.bigEndian(at: place + 16)
    }
    set {
      guard let id = shard.bytes else { return }
      let place = place(of: id)
      let old = isEntry(id, at: place) ? place..<place + Self.entrySize : place..<place
      var entry: [UInt8] = []
      if let newValue {
        entry = id
        entry.append(bigEndian: newValue)
      }
      entries.replaceSubrange(old, with: entry)
    }
  }

  private func isEntry(_ id: [UInt8], at place: Int) -> Bool {
    place < entries.count && entries[place..<place + 16].elementsEqual(id)
  }

  /// The position of an id's entry, or where to insert it.
  private func place(of id: [UInt8]) -> Int {
    var (low, high) = (0, entries.count / Self.entrySize)
    while low < high {
      let middle = (low + high) / 2
      let start = middle * Self.entrySize
      if entries[start..<start + 16].lexicographicallyPrecedes(id) { low = middle + 1 } else { high = middle }
    }
    return low * Self.entrySize
  }
}
