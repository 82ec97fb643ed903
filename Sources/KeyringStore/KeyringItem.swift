import SecretService
import StoreSupport
import TokenCache

/// How a shard is kept as an item of the Secret Service; `CacheFormat.md` is the specification.
enum KeyringItem {
  /// The value of `xdg:schema`.
  static let schema = "org.llavero.TokenCache"

  /// The version of the format that this program reads and writes.
  static let version = "1"

  enum Attribute {
    static let schema = "xdg:schema"
    static let group = "group"
    static let shard = "shard"
    static let version = "version"
  }

  static func attributes(_ shard: ShardID, of group: KeychainGroup) -> [String: String] {
    [
      Attribute.schema: schema, Attribute.group: group.name, Attribute.shard: shard.rawValue,
      Attribute.version: version,
    ]
  }

  /// What an item with a group's name is.
  enum Kind: Hashable {
    /// `isExact`: with no attributes but those that a writer gives it.
    case shard(ShardID, isExact: Bool)
    case otherVersion(String, shard: ShardID?)
    /// Another program's.
    case foreign
  }

  /// What an item is by its attributes. A keyring editor may have added some to a shard's.
  static func kind(of item: ItemProperties, in group: KeychainGroup) -> Kind {
    let attributes = item.attributes
    let shard = attributes[Attribute.shard].map(ShardID.init(rawValue:))
    guard attributes[Attribute.schema] == schema, attributes[Attribute.group] == group.name,
      let version = attributes[Attribute.version]
    else { return .foreign }
    guard version == self.version else { return .otherVersion(version, shard: shard) }
    guard let shard else { return .foreign }
    return .shard(shard, isExact: item.ownAttributes == self.attributes(shard, of: group))
  }

  /// The name a person sees in the keyring's own program.
  static func label(_ shard: ShardID, of group: KeychainGroup) -> String {
    "Llavero: \(group.name) (\(beginning(of: shard)))"
  }

  /// The group and the beginning of the shard that a label names; `nil` for another label.
  static func parsedLabel(_ label: String) -> (group: KeychainGroup, beginning: String)? {
    guard let match = label.wholeMatch(of: /Llavero: (.+) \(([0-9a-f]{8})\)/),
      let group = try? KeychainGroup(String(match.output.1))
    else { return nil }
    return (group, String(match.output.2))
  }

  static func beginning(of shard: ShardID) -> String { String(shard.rawValue.prefix(8)) }
}
