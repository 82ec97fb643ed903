import GLibSupport
import Sealing
import TokenCache

/// What a store's values are called; section 8 of `CacheFormat.md` is the specification.
struct EtcdNames: Sendable {
  /// Without a slash at its end.
  private let prefix: String

  static let maximumPrefixSize = 255

  /// - Throws: ``CacheError/Code/refused`` for a prefix that cannot be one.
  init(prefix: String) throws(CacheError) {
    var bytes = Array(prefix.utf8)
    while bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
    guard !bytes.isEmpty, bytes.count <= Self.maximumPrefixSize,
      bytes.allSatisfy({ $0 > 0x20 && $0 != 0x7f })
    else {
      throw CacheError(
        .refused, "The prefix of the store's values in etcd cannot be used.",
        advice:
          "It is 1 to \(Self.maximumPrefixSize) bytes other than slashes, without spaces or control characters, "
          + "such as /llavero.")
    }
    self.prefix = String(decoding: bytes, as: UTF8.self)
  }

  var keys: String { prefix + "/keys" }

  /// Everything of the store.
  var all: EtcdRange { EtcdRange(below: prefix) }

  /// Everything of a group.
  func group(_ group: KeychainGroup) -> EtcdRange {
    EtcdRange(below: "\(prefix)/\(group.name)")
  }

  func shard(_ shard: ShardID, of group: KeychainGroup) -> String {
    "\(prefix)/\(group.name)/\(shard.rawValue)"
  }

  /// What every write to a group changes.
  func stamp(of group: KeychainGroup) -> String { "\(prefix)/\(group.name)/\(Self.stampName)" }

  /// Where one writer leaves which of its writes was the last one.
  func writer(_ id: String) -> String { "\(prefix)/writers/\(id)" }

  /// Held by who renews the tokens of an account.
  func renewal(_ shard: ShardID) -> String { "\(prefix)/renewals/\(shard.rawValue)" }

  private static let stampName = "stamp"

  /// What a value is, by its key.
  enum Part: Equatable {
    case shard(ShardID, KeychainGroup)
    /// What every write to a group changes.
    case stamp
    /// Nothing of a group's.
    case foreign
  }

  func part(_ key: [UInt8]) -> Part {
    guard key.starts(with: all.start) else { return .foreign }
    let parts = key.dropFirst(all.start.count).split(
      separator: UInt8(ascii: "/"), omittingEmptySubsequences: false
    )
    .map { String(decoding: $0, as: UTF8.self) }
    guard parts.count == 2, let group = try? KeychainGroup(parts[0]) else { return .foreign }
    if parts[1] == Self.stampName { return .stamp }
    let shard = ShardID(rawValue: parts[1])
    return shard.bytes == nil ? .foreign : .shard(shard, group)
  }
}

/// All keys from the first up to, but not including, the last.
struct EtcdRange: Sendable {
  let start: [UInt8]
  let end: [UInt8]
  /// What all of its keys begin with. What follows are, in a group, the ids of shards, which are spread evenly.
  private let directory: [UInt8]

  func contains(_ key: [UInt8]) -> Bool {
    !key.lexicographicallyPrecedes(start) && key.lexicographicallyPrecedes(end)
  }

  /// What is left of it after a key.
  func after(_ key: [UInt8]) -> EtcdRange { EtcdRange(start: key + [0], end: end, directory: directory) }

  /// Parts, one at least, with about the same number of shards; the range itself where it begins with another key.
  func split(into count: Int) -> [EtcdRange] {
    guard let first = Self.number(start, in: directory) else { return [self] }
    // A part of the group ends where the next begins.
    let last = Self.number(end, in: directory) ?? 1 << 32
    guard last > first, case let step = (last - first) / UInt64(count), step > 0 else { return [self] }
    let bounds = (1..<UInt64(count)).map { number in
      var bytes: [UInt8] = []
      bytes.append(bigEndian: UInt32(first + number * step))
      return directory + hex(bytes).utf8
    }
    return zip([start] + bounds, bounds + [end]).map { EtcdRange(start: $0, end: $1, directory: directory) }
  }

  /// The first 32 bits of the shard's id at which a key begins; `nil` for another key.
  private static func number(_ key: [UInt8], in directory: [UInt8]) -> UInt64? {
    guard key.starts(with: directory) else { return nil }
    return UInt64(String(decoding: key.dropFirst(directory.count).prefix(8), as: UTF8.self), radix: 16)
  }
}

extension EtcdRange {
  /// What is below a name, as in a directory: up to what follows the slash.
  init(below name: String) {
    let start = Array((name + "/").utf8)
    self.init(start: start, end: Array((name + "0").utf8), directory: start)
  }
}
