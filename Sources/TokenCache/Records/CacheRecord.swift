package import FoundationEssentials

/// A record of the cache: a JSON object with typed access to the fields of the schema. Other fields stay as they are.
package protocol CacheRecord: Sendable, Hashable {
  /// Every field, known or not.
  var fields: JSONObject { get set }

  /// The key of the record in a serialized cache, composed from its fields. Records of other libraries may have other
  /// keys.
  var serializedKey: String { get }

  init(fields: JSONObject)

  /// The account of the record; `nil` if it belongs to no account.
  var owner: String? { get }

  /// The identity of the record: two records for one thing have the same.
  func identity(in clouds: CloudInstances) -> RecordIdentity

  /// The identity of the record without its client, under a key that names no client; `nil` for all other keys.
  func sharedIdentity(under key: String, in clouds: CloudInstances) -> RecordIdentity?

  /// This record merged with an imported record for the same thing.
  func merged(with incoming: Self) -> Self

  /// The fields of the schema that describe this version of the record and are replaced with it.
  static var replacedFields: Set<String> { get }

  /// The fields from which another library computes its key. Two records for one thing may spell them differently.
  static var spellings: Set<String> { get }
}

extension String {
  /// Whether this is a number in the form of JSON's (RFC 8259 section 6), where zeros may lead. Most are whole numbers.
  fileprivate var isJSONNumber: Bool {
    !isEmpty && utf8.allSatisfy { (0x30...0x39).contains($0) }
      || wholeMatch(of: /-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/) != nil
  }
}

extension CacheRecord {
  /// The string in a field; blank strings, missing fields and other kinds of value are `nil`.
  package func string(_ field: String) -> String? { fields[field]?.stringValue.nonBlank }

  /// The moment in a field of decimal seconds since 1970, written as a string or, by some libraries, as a
  /// number. Moments outside the years 1 to 9999 are `nil`, and so are texts in another form than JSON's numbers.
  package func date(_ field: String) -> Date? {
    if let text = fields[field]?.stringValue, !text.isJSONNumber { return nil }
    guard let seconds = fields[field]?.numberValue, (-62_135_596_800..<253_402_300_800).contains(seconds)
    else { return nil }
    return Date(timeIntervalSince1970: seconds)
  }

  /// The key of these parts, each normalized.
  static func key(_ parts: [String?]) -> String {
    parts.map { ($0 ?? "").normalized }.joined(separator: "-")
  }

  mutating func set(_ field: String, _ value: String?) {
    fields[field] = value.map(JSONValue.string)
  }

  /// Times are decimal strings: MSAL.NET refuses a whole cache over one that is a number. A time out of range is not
  /// written.
  mutating func set(_ field: String, _ value: Date?) {
    let seconds = value.flatMap { Int64(exactly: $0.timeIntervalSince1970.rounded(.down)) }
    set(field, seconds.map { String($0) })
  }

  /// This record as it replaces an older one for the same thing: unknown fields of the older one survive, and so do the
  /// spellings that its key was computed from.
  func replacing(_ older: Self) -> Self {
    var fields = completed(by: older).fields
    for name in Self.spellings { fields[name] = older.fields[name] }
    return Self(fields: fields)
  }

  /// This record with the fields of another that it lacks, except those that describe the other's version.
  func completed(by other: Self) -> Self {
    let more = other.fields.filter {
      !Self.replacedFields.contains($0.key) && !Self.spellings.contains($0.key)
    }
    return Self(fields: fields.merging(more) { own, _ in own })
  }

  /// The account of the record; empty if it belongs to no account.
  var normalizedOwner: String { (owner ?? "").normalized }

  /// When the record was written, if it says so.
  var age: Date { date("last_modification_time") ?? date("cached_at") ?? .distantPast }

  package var owner: String? { nil }

  package func sharedIdentity(under key: String, in clouds: CloudInstances) -> RecordIdentity? { nil }

  package static var replacedFields: Set<String> { [] }

  /// The newer one stays; on a tie, or if neither has a time, the imported one.
  package func merged(with incoming: Self) -> Self {
    age <= incoming.age ? incoming.replacing(self) : self
  }
}
