import FoundationEssentials
import Sealing
import TokenCache

/// Which version of each of a group's files is the present one, so that an older one is noticed.
struct Manifest: Equatable {
  /// The number of the group's last write.
  var sequence: UInt64
  /// For each shard, in the order of their ids, the 16 bytes of its id and the 8 of its sequence number.
  private(set) var entries: [UInt8] = []

  private static let entrySize = 24

  /// The bytes of the id of what is no shard.
  static let name = [UInt8](repeating: 0, count: SealedFormat.nameSize)

  /// One with no shard.
  init(sequence: UInt64) { self.sequence = sequence }

  init(_ opened: SealedFormat.Opened) throws(SealError) {
    guard opened.contents.count.isMultiple(of: Self.entrySize) else {
      throw .unreadable("a part of the manifest is missing.")
    }
    sequence = opened.sequence
    entries = Array(opened.contents)
    for start in stride(from: 0, to: entries.count, by: Self.entrySize) {
      let isInOrder =
        start == 0
        || entries[(start - Self.entrySize)..<start - 8].lexicographicallyPrecedes(
          entries[start..<start + 16])
      guard isInOrder, entries.bigEndian(at: start + 16) <= sequence else {
        throw .unreadable("its entries are in no order.")
      }
    }
  }

  /// A number above all that the group has had: that of a manifest that nobody has any more is not known, and a file
  /// from then must not be taken for one of now. In microseconds since 1970; no group is written that often.
  static var newSequence: UInt64 { UInt64(max(Date().timeIntervalSince1970, 0) * 1_000_000) }

  /// The shards that are there.
  var shards: [ShardID] {
    stride(from: 0, to: entries.count, by: Self.entrySize).map { ShardID(bytes: entries[$0..<$0 + 16]) }
  }

  /// The sequence number of a shard's file, `nil` where there should be none.
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

  /// Where the entry of an id is or would have to be.
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
