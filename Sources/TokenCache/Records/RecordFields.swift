package import FoundationEssentials

/// A record of the cache: the JSON object it was read from, with typed access to the fields that the schema
/// names. Fields that it does not name stay as they are.
package protocol CacheRecord: Sendable, Hashable {
  /// Every field, known or not.
  var fields: JSONObject { get set }

  /// The key under which Llavero files the record in a serialized cache, composed from its fields. Records
  /// of other libraries stand under other keys too.
  var serializedKey: String { get }

  init(fields: JSONObject)

  /// The account that the record belongs to; `nil` for what belongs to no account.
  var owner: String? { get }

  /// What the record stands for.
  func identity(in clouds: CloudInstances) -> RecordIdentity

  /// What the record stands for beyond its own client, under a key that names none; `nil` for all other keys.
  func sharedIdentity(under key: String, in clouds: CloudInstances) -> RecordIdentity?

  /// What stays of this record when an import brings another for the same thing.
  func merged(with incoming: Self) -> Self

  /// The fields of the schema that describe this version of the record and go with it.
  static var replacedFields: Set<String> { get }

  /// The fields that another library computes its key from. Two records for one thing may spell them in
  /// different ways that mean the same.
  static var spellings: Set<String> { get }
}

extension CacheRecord {
  /// The string in a field; blank strings, missing fields and other kinds of value are `nil`.
  package func string(_ field: String) -> String? {
    fields[field]?.stringValue.nonBlank
  }

  /// The moment in a field of decimal seconds since 1970, written as a string or, by some libraries, as a
  /// number. Moments outside the years 1 to 9999 are `nil`.
  package func date(_ field: String) -> Date? {
    guard let seconds = fields[field]?.numberValue, (-62_135_596_800..<253_402_300_800).contains(seconds)
    else { return nil }
    return Date(timeIntervalSince1970: seconds)
  }

  mutating func set(_ field: String, _ value: String?) {
    fields[field] = value.map(JSONValue.string)
  }

  /// Times are decimal strings: MSAL.NET refuses a whole cache over one that is a number. A time too far away
  /// to be written counts as none.
  mutating func set(_ field: String, _ value: Date?) {
    let seconds = value.flatMap { Int64(exactly: $0.timeIntervalSince1970.rounded(.down)) }
    set(field, seconds.map { String($0) })
  }

  /// This record as it is stored over an older one for the same thing: what this library does not know of the
  /// older one survives, and so does the spelling that the older one's key was computed from.
  func replacing(_ older: Self) -> Self {
    var fields = completed(by: older).fields
    for name in Self.spellings { fields[name] = older.fields[name] }
    return Self(fields: fields)
  }

  /// This record with the fields of another that it does not have itself, as far as they do not describe that other's
  /// version of the thing.
  func completed(by other: Self) -> Self {
    let more = other.fields.filter {
      !Self.replacedFields.contains($0.key) && !Self.spellings.contains($0.key)
    }
    return Self(fields: fields.merging(more) { own, _ in own })
  }

  /// When the record was written, as far as it says.
  var age: Date { date("last_modification_time") ?? date("cached_at") ?? .distantPast }

  package func sharedIdentity(under key: String, in clouds: CloudInstances) -> RecordIdentity? { nil }

  /// The newer one stays; on a tie, and where neither says how old it is, the one that comes in.
  package func merged(with incoming: Self) -> Self {
    age <= incoming.age ? incoming.replacing(self) : self
  }
}
