public import FoundationEssentials
import GLibSupport

/// MSAL's unified token cache as a JSON document: sections of records, each under a key.
///
/// Sections, records and fields that the schema does not name are kept as they are, and so are the keys of
/// records that another library wrote.
public struct CacheDocument: Sendable, Hashable {
  public var accessTokens: [String: Credential] = [:]
  public var refreshTokens: [String: Credential] = [:]
  public var idTokens: [String: Credential] = [:]
  public var accounts: [String: AccountRecord] = [:]
  public var appMetadata: [String: AppMetadata] = [:]
  /// Sign-in state, a section of Apple's library that the others keep without reading it.
  public var accountMetadata: [String: AccountMetadata] = [:]
  /// Sections that the schema does not name.
  public var otherSections: JSONObject = [:]
  /// Members of known sections that are not objects, by section.
  var nonObjectMembers: [String: JSONObject] = [:]

  public init() {}

  /// Whether the document has no data at all.
  public var isEmpty: Bool { self == CacheDocument() }

  /// The credentials of one section.
  public subscript(section: CredentialSection) -> [String: Credential] {
    get { self[keyPath: section.records] }
    _modify { yield &self[keyPath: section.records] }
  }

  /// Every credential with its key, in the order of the sections and of the keys.
  public var credentials: [(key: String, credential: Credential)] {
    CredentialSection.allCases.flatMap { section in
      self[section].sorted { $0.key < $1.key }.map { (key: $0.key, credential: $0.value) }
    }
  }

  /// How many records the document holds, unknown sections not counted.
  public var recordCount: Int { Self.sections.reduce(0) { $0 + count(of: $1) } }

  private func count(of section: some CacheSection) -> Int { self[keyPath: section.records].count }
}

extension CacheDocument {
  /// Reads a serialized cache: UTF-8 JSON as any MSAL library writes it, with or without a byte-order mark
  /// and trailing commas.
  ///
  /// - Throws: ``CacheError/Code/damaged`` if it or a known section is not a JSON object, or if it is larger than 256 MiB,
  ///   nested deeper than 128 levels or has more than a million values.
  public init(json: Data) throws(CacheError) {
    let sections: JSONObject
    do {
      sections = try JSONObject(foreign: json, within: .cache, keepsSurrogates: true)
    } catch {
      throw CacheError.damaged(error.description)
    }
    try self.init(sections: sections)
  }

  init(sections: JSONObject) throws(CacheError) {
    otherSections = sections
    for section in Self.sections { try take(section) }
  }

  private mutating func take<Record>(_ section: some CacheSection<Record>) throws(CacheError) {
    switch otherSections.removeValue(forKey: section.name) {
    case nil, .null: break
    case .object(let members):
      let odd = members.filter { $0.value.objectValue == nil }
      if !odd.isEmpty { nonObjectMembers[section.name] = odd }
      // The keys are not hashed again.
      self[keyPath: section.records] = (odd.isEmpty ? members : members.filter { odd[$0.key] == nil })
        .mapValues { Record(fields: $0.objectValue ?? [:]) }
    default: throw CacheError.damaged("the section \(section.name) is not an object")
    }
  }

  /// The document as JSON values, without empty sections.
  public var sections: JSONObject {
    var sections = otherSections
    for section in Self.sections {
      let members = members(of: section)
      if !members.isEmpty { sections[section.name] = .object(members) }
    }
    return sections
  }

  /// A record takes precedence over a member that is not an object and has the same key; that one gets the next free key.
  private func members(of section: some CacheSection) -> JSONObject {
    var members = self[keyPath: section.records].mapValues { JSONValue.object($0.fields) }
    let odd = nonObjectMembers[section.name] ?? [:]
    if odd.isEmpty { return members }
    let moved = odd.filter { members[$0.key] != nil }.sorted { $0.key < $1.key }
    members.merge(odd) { record, _ in record }
    for (key, member) in moved { members[members.freeKey(key)] = member }
    return members
  }

  /// Serializes the document as compact UTF-8 JSON with sorted keys, which any MSAL library reads.
  ///
  /// The result has every token as plaintext.
  ///
  /// - Throws: ``CacheError/Code/tooLarge`` for a document that ``init(json:)`` would refuse;
  ///   ``CacheError/Code/damaged`` for a number that JSON cannot represent.
  public func json() throws(CacheError) -> Data { Data(try jsonBytes()) }

  private func jsonBytes() throws(CacheError) -> [UInt8] {
    do {
      return try JSONWriter.bytes(of: .object(sections), within: .cache)
    } catch .notANumber {
      throw CacheError.damaged("a number in it cannot be written as JSON")
    } catch {
      throw CacheError(
        .tooLarge, "The cache exceeds the format's limits: \(error).",
        advice: "Remove expired tokens, or accounts that are no longer used.")
    }
  }

  /// Calls `body` with the serialized document and wipes it afterwards.
  package func withJSON<T>(_ body: (UnsafeRawBufferPointer) -> T) throws(CacheError) -> T {
    var json = try jsonBytes()
    defer { wipe(&json) }
    return unsafe json.withUnsafeBytes(body)
  }
}

extension CacheDocument: CustomStringConvertible, CustomReflectable {
  /// The number of records, never their contents.
  public var description: String { "CacheDocument(\(recordCount) records)" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension CacheDocument {
  /// Removes every credential of these sections that a condition holds for.
  ///
  /// - Returns: What was removed.
  @discardableResult
  public mutating func removeCredentials(
    in sections: [CredentialSection] = CredentialSection.allCases, where isRemoved: (Credential) -> Bool
  ) -> [Credential] {
    var removed: [Credential] = []
    for section in sections {
      let matching = self[section].filter { isRemoved($0.value) }
      removed += matching.sorted { $0.key < $1.key }.map(\.value)
      for key in matching.keys { self[section][key] = nil }
    }
    return removed
  }
}

extension Dictionary where Key == String, Value: CacheRecord {
  /// Puts a record under a key. If another record has the key, as keys of other libraries may not match the fields, the
  /// record whose fields make the key gets it, else the present one; the other gets its own key or the next one that is
  /// free and not `isTaken`.
  mutating func put(_ record: Value, at key: String, isTaken: (String) -> Bool = { _ in false }) {
    guard let other = self[key], other != record else {
      self[key] = record
      return
    }
    let isRightful = record.serializedKey == key && other.serializedKey != key
    let (stays, moves) = isRightful ? (record, other) : (other, record)
    self[key] = stays
    self[freeKey(moves.serializedKey, isTaken: isTaken)] = moves
  }
}

extension Dictionary where Key == String {
  /// The first free key: the key itself, or with as many dashes appended as necessary.
  func freeKey(_ key: String, isTaken: (String) -> Bool = { _ in false }) -> String {
    var free = key
    while self[free] != nil || isTaken(free) { free += "-" }
    return free
  }
}
