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
  /// Members of known sections that are no objects, by section.
  var misfits: [String: JSONObject] = [:]

  public init() {}

  /// Whether there is nothing in it.
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
  /// - Throws: ``CacheError/Code/damaged`` when it is no JSON object, or has a known section that is no object;
  ///   also when it is larger than 256 MiB, nested deeper than 128 levels or holds more than a million values.
  public init(json: Data) throws(CacheError) {
    let sections: JSONObject
    do {
      sections = try JSONObject(foreign: json, within: .cache)
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
      if !odd.isEmpty { misfits[section.name] = odd }
      // The keys are not hashed again.
      self[keyPath: section.records] = (odd.isEmpty ? members : members.filter { odd[$0.key] == nil })
        .mapValues { Record(fields: $0.objectValue ?? [:]) }
    default: throw CacheError.damaged("the section \(section.name) is no object")
    }
  }

  /// The document as JSON values; sections without a record are left out.
  public var sections: JSONObject {
    var sections = otherSections
    for section in Self.sections {
      let members = members(of: section)
      if !members.isEmpty { sections[section.name] = .object(members) }
    }
    return sections
  }

  /// A record goes before a misfit that has the same key; the misfit gets the next one that is free.
  private func members(of section: some CacheSection) -> JSONObject {
    var members = self[keyPath: section.records].mapValues { JSONValue.object($0.fields) }
    for (key, misfit) in (misfits[section.name] ?? [:]).sorted(by: { $0.key < $1.key }) {
      members[members.freeKey(key)] = misfit
    }
    return members
  }

  /// Serializes the document as compact UTF-8 JSON with sorted keys, which any MSAL library reads.
  ///
  /// The result holds every token in clear.
  ///
  /// - Throws: ``CacheError/Code/tooLarge`` for a document that ``init(json:)`` would not take;
  ///   ``CacheError/Code/damaged`` for a number that JSON does not have.
  public func json() throws(CacheError) -> Data {
    Data(try jsonBytes())
  }

  private func jsonBytes() throws(CacheError) -> [UInt8] {
    do {
      return try JSONValue.object(sections).json(within: .cache)
    } catch .notANumber {
      throw CacheError.damaged("a number in it cannot be written as JSON")
    } catch {
      throw CacheError(
        .tooLarge, "The cache would be one that nobody reads: \(error).",
        advice: "Remove tokens that have expired, or accounts that nobody uses.")
    }
  }
}

extension CacheDocument {
  /// Calls `body` with the serialized document and wipes it afterwards.
  package func withJSON<T>(_ body: (UnsafeRawBufferPointer) -> T) throws(CacheError) -> T {
    var json = try jsonBytes()
    defer { wipe(&json) }
    return unsafe json.withUnsafeBytes(body)
  }

  /// Takes in another copy of the same shard: of two records for one thing the newer stays.
  package mutating func merge(copy: CacheDocument) {
    merge(copy, in: .known)
  }
}

extension CacheDocument: CustomStringConvertible, CustomReflectable {
  /// How many records there are, never what is in them.
  public var description: String { "CacheDocument(\(recordCount) records)" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
