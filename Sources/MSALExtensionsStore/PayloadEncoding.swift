import FoundationEssentials
import GLibSupport
import TokenCache

/// The encoding of a serialized cache in an item or a file.
public struct PayloadEncoding: Sendable, Hashable {
  /// Base64 of the JSON rather than the JSON itself.
  public var isBase64: Bool
  /// Whether a byte-order mark stands before it.
  public var hasByteOrderMark = false

  /// The JSON as it is: MSAL for Python and Node, and every plaintext file.
  public static let json = PayloadEncoding(isBase64: false)
  /// Base64: MSAL.NET, Go and Java.
  public static let base64 = PayloadEncoding(isBase64: true)

  /// Reads a payload of either encoding.
  ///
  /// - Returns: The cache and its encoding; `nil` for an empty payload, and for `null`.
  /// - Throws: ``CacheError/Code/damaged``, with what the payload seems to be instead.
  static func decode(_ payload: Data) throws(CacheError) -> (CacheDocument, PayloadEncoding)? {
    var encoding = PayloadEncoding.json
    var text = payload[...]
    if text.starts(with: KeyFile.byteOrderMark) {
      encoding.hasByteOrderMark = true
      text = text.dropFirst(KeyFile.byteOrderMark.count)
    }
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    text = text.drop(while: isSpace)
    guard let first = text.first else { return nil }
    if text.elementsEqual("null".utf8) { return nil }
    if first == UInt8(ascii: "{") { return (try CacheDocument(json: Data(text)), encoding) }
    if first == UInt8(ascii: "[") {
      throw CacheError(
        .damaged, "It is a list, not a token cache.",
        advice: "Azure CLI keeps service principals in the same item. It was not changed.")
    }
    guard var json = Data(base64Encoded: Data(text), options: .ignoreUnknownCharacters),
      json.drop(while: { KeyFile.byteOrderMark.contains($0) || isSpace($0) }).first == UInt8(ascii: "{")
    else {
      throw CacheError(
        .damaged, "It is neither a JSON object nor the Base64 of one.",
        advice: "Perhaps a newer version or another kind of program wrote it. It was not changed.")
    }
    defer { json.resetBytes(in: json.startIndex..<json.endIndex) }
    encoding.isBase64 = true
    return (try CacheDocument(json: json), encoding)
  }

  /// Encodes a cache as its users expect it, with times as strings: MSAL.NET discards a whole cache with one number.
  func encode(_ document: CacheDocument) throws(CacheError) -> Data {
    var json = try document.withTimesAsStrings.json()
    defer { json.resetBytes(in: json.startIndex..<json.endIndex) }
    let mark = Data(hasByteOrderMark ? KeyFile.byteOrderMark : [])
    return mark + (isBase64 ? json.base64EncodedData() : json)
  }
}

extension CacheDocument {
  fileprivate var withTimesAsStrings: CacheDocument {
    let names = [
      "cached_at", "expires_on", "ext_expires_on", "extended_expires_on", "last_modification_time",
      "refresh_on",
    ]
    func corrected(_ fields: JSONObject) -> JSONObject {
      var fields = fields
      for name in names {
        guard let value = fields[name], value.stringValue == nil,
          let seconds = value.numberValue?.rounded(.down), let time = Int64(exactly: seconds)
        else { continue }
        fields[name] = .string(String(time))
      }
      return fields
    }
    var document = self
    for section in CredentialSection.allCases {
      document[section] = self[section].mapValues { Credential(fields: corrected($0.fields)) }
    }
    document.accounts = accounts.mapValues { AccountRecord(fields: corrected($0.fields)) }
    return document
  }
}
