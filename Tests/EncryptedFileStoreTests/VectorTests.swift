import Crypto
import Glibc
import TestSupport

@testable import EncryptedFileStore
@testable import Sealing

/// The test vectors of `CacheFormat.md` for sealed files and lock files.
@Suite(.timeLimit(.minutes(20)))
struct VectorTests {
  static let files = [
    FormatVectors("sealed") { row in
      let (kind, file) = (try row.string("file"), try changed(row))
      let (group, shard) = (try WorkedExample.group, WorkedExample.shard)
      let manifest = try WorkedExample.identity(Manifest.name)
      do throws(SealError) {
        switch kind {
        case "keys":
          let header = try SealedKeys.Header(file)
          guard header.kind == .key else { throw .otherKeySource(header.kind) }
          _ = try SealedKeys.open(file, with: header.key(from: WorkedExample.secret))
        case "manifest": _ = try Manifest(SealedFormat.open(file, as: manifest, with: .example))
        default: _ = try SealedFormat.document(in: file, of: shard, in: group, with: .example)
        }
        row["error"] = nil
      } catch {
        row["error"] = .string(reason(error))
      }
    },
    FormatVectors("recovery") { row in
      let group = try await RecoveredGroup(row)
      let (store, name, shard) = (group.fixture.store, group.fixture.group, group.shard("u.t"))
      let step = try row.string("step")
      do throws(CacheError) {
        switch step {
        case "read": _ = try await store.read(.all, in: name)
        case "repair": _ = try await store.remove(.damaged, in: name)
        case "remove": _ = try await store.remove(.everything, in: name)
        default: try await store.update([shard], in: name) { $0[shard].otherSections["x"] = "new" }
        }
        row["error"] = nil
      } catch {
        row["error"] = .string(error.code.rawValue)
      }
      row["after"] = .object(try group.files)
    },
    FormatVectors("counters") { row in
      let directory = try TemporaryDirectory()
      let counter = try #require(UInt64(row.string("counter")))
      let page =
        Array("LLAVERO1".utf8) + withUnsafeBytes(of: counter) { Array($0) } + .init(repeating: 0, count: 4080)
      try writePrivate(page, to: directory.path + "/lock")
      let file = try SharedLockFile(directory: directory.path, name: "lock")
      try file.lock()
      defer { file.unlock() }
      file.beginWrite()
      row["during"] = .string(String(file.generation))
      file.endWrite()
      row["after"] = .string(String(file.generation))
    },
  ]

  @Test(.fault("other reader"), arguments: files)
  func `The code produces the results of the format's test vectors`(_ file: FormatVectors) async throws {
    try await file.check()
  }

  /// A file of the worked example, with other contents or number and the changes of a row.
  private static func changed(_ row: JSONObject) throws -> [UInt8] {
    let contents = try row.optionalString("contents").map(bytes(hex:))
    let number = try #require(UInt64(row.optionalString("number") ?? "7"))
    var file =
      switch try row.string("file") {
      case "keys": try WorkedExample.keys(contents)
      case "manifest":
        try WorkedExample.seal(
          contents ?? WorkedExample.shard + [0, 0, 0, 0, 0, 0, 0, 7], as: .init(repeating: 0, count: 16),
          number)
      default: try WorkedExample.seal(contents ?? WorkedExample.document, as: WorkedExample.shard, number)
      }
    if let count = row["keep"]?.numberValue { file = Array(file.prefix(Int(count))) }
    for (offset, digits) in try row["put"]?.asObject("put") ?? [:] {
      let new = bytes(hex: try digits.asString("bytes"))
      let start = try #require(Int(offset))
      file.replaceSubrange(start..<(start + new.count), with: new)
    }
    file += bytes(hex: try row.optionalString("append") ?? "")
    if row["checksum"] == .bool(true) { file = file.dropLast(16) + SealedFormat.checkSum(file.dropLast(16)) }
    return file
  }

  private static func reason(_ error: SealError) -> String {
    switch error {
    case .notSealed: "not sealed"
    case .wrongLength: "truncated"
    case .corrupt: "checksum"
    case .newerVersion: "version"
    case .misplaced: "misplaced"
    case .unknownKey: "unknown data key"
    case .forged: "tag"
    case .unreadable: "contents"
    case .malformed: "header"
    case .wrongKey, .otherKeySource: "wrong key"
    case .rolledBack, .olderManifest, .missing, .outOfMemory: "\(error)"
    }
  }
}

/// The files of a group, of the accounts u.t and v.t, by short names.
private struct RecoveredGroup {
  let fixture: Fixture
  private let keys: DataKeys
  private static let accounts = ["u.t", "v.t"]

  /// Makes the files `before` of a row.
  init(_ row: JSONObject) async throws {
    fixture = try await Fixture(saving: SampleToken("any", account: 1))
    let file = try fixture.bytes(fixture.keys)
    keys = try SealedKeys.open(
      file, with: SealedKeys.Header(file).key(from: fixture.bytes(fixture.directory + "/key")))
    for name in try fixture.files().keys { try fixture.remove("\(fixture.groupPath)/\(name)") }
    for (name, value) in try row.object("before") {
      try fixture.write(bytes(value.asObject(name), name), to: "\(fixture.groupPath)/\(fileName(name))")
    }
    if let mode = try row.optionalString("groups_mode") {
      chmod(fixture.root + "/groups", try #require(mode_t(mode, radix: 8)))
    }
  }

  func shard(_ account: String) -> ShardID { ShardID(homeAccountID: account, group: fixture.group) }

  /// Each file's number, and the entries of manifests.
  var files: JSONObject {
    get throws {
      var files: JSONObject = [:]
      for (name, bytes) in try fixture.files() {
        let account = Self.accounts.first { name.hasPrefix(shard($0).rawValue) }
        let short = name.replacing(".sealed", with: "").replacing(
          account.map { shard($0).rawValue } ?? "", with: account ?? "")
        files[short] = .object(describe(bytes, account))
      }
      return files
    }
  }

  private func identity(_ account: String?) -> SealedFormat.Identity {
    SealedFormat.Identity(group: fixture.group, name: account.flatMap { shard($0).bytes } ?? Manifest.name)
  }

  private func describe(_ bytes: [UInt8], _ account: String?) -> JSONObject {
    guard let opened = try? SealedFormat.open(bytes, as: identity(account), with: keys) else { return [:] }
    // The first number of a group is that of the time.
    let number: JSONValue = .string(
      opened.sequence > 1 << 50 && opened.sequence < 1 << 60 ? "time" : "\(opened.sequence)")
    guard account == nil, let manifest = try? Manifest(opened) else { return ["number": number] }
    let entries = Self.accounts.compactMap { account in
      manifest[shard(account)].map {
        (account, JSONValue.string($0 == opened.sequence ? number.stringValue ?? "" : "\($0)"))
      }
    }
    return ["number": number, "entries": .object(Dictionary(uniqueKeysWithValues: entries))]
  }

  private func fileName(_ short: String) -> String {
    for account in Self.accounts where short.hasPrefix(account) {
      return shard(account).rawValue + ".sealed" + short.dropFirst(account.count)
    }
    return short.hasPrefix("manifest") ? "manifest.sealed" + short.dropFirst("manifest".count) : short
  }

  private func bytes(_ file: JSONObject, _ short: String) throws -> [UInt8] {
    guard let number = try file.optionalString("number").flatMap(UInt64.init) else { return Array("{}".utf8) }
    let account = Self.accounts.first { short.hasPrefix($0) }
    var contents = Array(#"{"x":"old"}"#.utf8)
    if account == nil {
      var manifest = Manifest(sequence: number)
      for (account, entry) in try file.object("entries") {
        manifest[shard(account)] = UInt64(try entry.asString(account))
      }
      contents = manifest.entries
    }
    return contents.withUnsafeBytes {
      SealedFormat.seal($0, as: identity(account), sequence: number, with: keys.current)
    }
  }
}

extension DataKeys {
  /// That of the worked example.
  static let example = DataKeys(
    current: DataKeys.Key(id: Array(0x20..<0x30), key: SymmetricKey(data: Array(0..<32))), older: [])
}

/// The values of the worked examples of sealed files.
enum WorkedExample {
  static let document = Array(#"{"Account":{}}"#.utf8)
  static let secret = Array<UInt8>(0x40..<0x60)
  static let shard = ShardID(rawValue: "606a626a95cc901e49ea8d483e64dbfd").bytes ?? []
  static var group: KeychainGroup { get throws { try KeychainGroup("com.example.office") } }

  static func identity(_ name: [UInt8]) throws -> SealedFormat.Identity {
    SealedFormat.Identity(group: try group, name: name)
  }

  static func seal(_ contents: [UInt8], as name: [UInt8], _ number: UInt64 = 7) throws -> [UInt8] {
    let (identity, nonce) = (try identity(name), try AES.GCM.Nonce(data: Array<UInt8>(0x30..<0x3c)))
    return contents.withUnsafeBytes {
      SealedFormat.seal($0, as: identity, sequence: number, with: DataKeys.example.current, nonce: nonce)
    }
  }

  /// The file `keys` with a key file, with other sealed bytes if they are named.
  static func keys(_ contents: [UInt8]?) throws -> [UInt8] {
    let file = bytes(hex: try #require(try SharedFiles.workedExamples(with: "keys").first).string("keys"))
    guard let contents else { return file }
    var header = Array(file[..<48])
    header.replaceSubrange(12..<16, with: [0, 0, 0, UInt8(92 + contents.count)])
    return SealedFormat.sealed(
      contents, after: header, authenticating: header, using: try SealedKeys.Header(file).key(from: secret),
      nonce: try AES.GCM.Nonce(data: Array<UInt8>(0x70..<0x7c)))
  }
}
