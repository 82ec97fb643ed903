import GLibSupport

/// The name of one shard of a group: all records of one account, or all that belong to none.
///
/// A hash, because the keyring may show it to anybody: 32 hexadecimal digits, the first half of the SHA-256
/// of the group's name, a line feed and the home account id, trimmed, in lower case and in normalization form C. The
/// shard of what belongs to no account has an empty home account id.
public struct ShardID: Sendable, Hashable, CustomStringConvertible {
  /// 32 lower-case hexadecimal digits.
  public let rawValue: String

  /// Takes a name that a store found.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// Names the shard of an account; without one, that of what belongs to no account.
  public init(homeAccountID: String?, group: KeychainGroup) {
    rawValue = String(sha256Hex("\(group.name)\n\((homeAccountID ?? "").normalized.composed)").prefix(32))
  }

  public var description: String { rawValue }
}
