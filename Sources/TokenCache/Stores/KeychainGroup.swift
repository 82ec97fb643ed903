/// The name of a set of apps that share one token cache, such as `com.microsoft.identity.universalstorage`.
///
/// A group keeps caches apart; it does not keep them from each other. Any program that can read the keyring
/// can read every group in it.
public struct KeychainGroup: Sendable, Hashable, CustomStringConvertible {
  /// The name in full.
  public let name: String

  /// The group that MSAL for macOS uses unless told otherwise.
  public static let `default` = KeychainGroup(verified: "com.microsoft.identity.universalstorage")

  /// The longest name, in characters, as for D-Bus names.
  public static let maximumLength = 255

  /// Takes a name in reverse-DNS form: two or more labels joined by dots, each of ASCII letters, digits, `-`
  /// and `_`, beginning with a letter or digit.
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
    guard isValid else { throw CacheError.invalidGroup(name) }
    self.name = name
  }

  private init(verified name: String) {
    self.name = name
  }

  public var description: String { name }
}

extension Character {
  fileprivate var isLetterOrDigit: Bool { isASCII && (isLetter || isNumber) }
}
