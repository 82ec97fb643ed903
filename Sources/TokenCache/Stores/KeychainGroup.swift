import GLibSupport

/// The name of a set of apps that share one token cache, such as `com.microsoft.identity.universalstorage`.
///
/// A group separates caches; it does not protect them. Any program that can read the keyring can read every group in
/// it.
///
/// For example:
///
/// ```swift
/// let cache = TokenCacheAccessor(
///   store: KeyringCacheStore(),
///   group: try KeychainGroup("com.example.office"))
/// ```
public struct KeychainGroup: Sendable, Hashable, CustomStringConvertible {
  /// The full name.
  public let name: String

  /// The default group of MSAL for macOS.
  public static let `default` = KeychainGroup(verified: "com.microsoft.identity.universalstorage")

  /// The longest name, in characters, as for D-Bus names.
  public static let maximumLength = 255

  /// Makes a group with a name in reverse-DNS form: two or more labels joined by dots, each of ASCII letters, digits,
  /// `-` and `_`, beginning with a letter or digit.
  ///
  /// - Throws: ``CacheError/Code/invalidGroup``.
  public init(_ name: String) throws(CacheError) {
    let labels = name.split(separator: ".", omittingEmptySubsequences: false)
    let isValid =
      labels.count >= 2 && name.utf8.count <= Self.maximumLength
      && labels.allSatisfy { label in
        guard let first = label.first, first.isLetterOrDigit else { return false }
        return label.allSatisfy { $0.isLetterOrDigit || $0 == "-" || $0 == "_" }
      }
    guard isValid else {
      throw CacheError(
        .invalidGroup, "\"\(name)\" is not a valid keychain group.",
        advice: "Use a name in reverse-DNS form, such as com.example.shared.")
    }
    self.name = name
  }

  private init(verified name: String) { self.name = name }

  public var description: String { name }
}

extension Character {
  fileprivate var isLetterOrDigit: Bool { isASCII && (isLetter || isNumber) }
}

/// The name of one shard of a group: all records of one account, or all records without an account.
///
/// A hash, because the keyring may show it to any program: 32 hexadecimal digits, the first half of the SHA-256
/// of the group's name, a line feed and the home account id, trimmed, in lower case and in normalization form C. For
/// records without an account the home account id is empty.
public struct ShardID: Sendable, Hashable, CustomStringConvertible {
  /// 32 lower-case hexadecimal digits.
  public let rawValue: String

  /// Makes an id from its name in a store.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Makes the id of an account's shard; for `nil`, of the shard of records without an account.
  public init(homeAccountID: String?, group: KeychainGroup) {
    rawValue = String(sha256Hex("\(group.name)\n\((homeAccountID ?? "").normalized.composed)").prefix(32))
  }

  public var description: String { rawValue }
}
