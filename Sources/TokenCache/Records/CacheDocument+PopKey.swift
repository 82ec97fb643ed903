/// The private key that a group's bound access tokens belong to: a section of Llavero's own, laid down in
/// `CacheFormat.md`. It belongs to no account, and stays where it was made.
extension CacheDocument {
  private static let popKeySection = "PopKey"
  /// The algorithm of its signatures: RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518 section 3.3).
  private static let popKeyAlgorithm = "rs256"

  /// The key as it was saved, whether or not it is one: PKCS #8 in base64.
  var popKey: String? {
    get {
      otherSections[Self.popKeySection]?.objectValue?[Self.popKeyAlgorithm]?.objectValue?["secret"]?
        .stringValue.nonBlank
    }
    set {
      var keys = otherSections[Self.popKeySection]?.objectValue ?? [:]
      keys[Self.popKeyAlgorithm] = newValue.map { .object(["secret": .string($0)]) }
      otherSections[Self.popKeySection] = keys.isEmpty ? nil : .object(keys)
    }
  }

  /// Whether there is anything in the section for keys.
  package var hasPopKeys: Bool { otherSections[Self.popKeySection] != nil }

  /// The document without private keys, as it may leave the group or enter one.
  var withoutPopKeys: CacheDocument {
    var document = self
    document.otherSections[Self.popKeySection] = nil
    return document
  }
}
