import Crypto
import TestSupport

@testable import EncryptedFileStore
@testable import Sealing

/// The worked examples of `CacheFormat.md`.
struct FormatTests {
  /// R12.10
  @Test func `A shard is sealed as the example says`() throws {
    let example = try #require(try SharedFiles.workedExamples(with: "sha256").first)
    let file = try WorkedExample.seal(WorkedExample.document, as: WorkedExample.shard)
    #expect(file.count == 4212)
    let parts = [
      "header": 0..<72, "nonce": 72..<84, "sealed_begins": 84..<100, "tag": 4180..<4196,
      "checksum": 4196..<4212,
    ]
    for (name, range) in parts { #expect(try hex(file[range]) == example.string(name)) }
    #expect(try hex(SHA256.hash(data: file)) == example.string("sha256"))

    let opened = try SealedFormat.open(file, as: WorkedExample.identity(WorkedExample.shard), with: .example)
    #expect(opened.sequence == 7)
    #expect(Array(opened.contents) == WorkedExample.document)
  }

  @Test(arguments: [(4092, 4212), (4093, 8308)])
  func `Contents that fill their padding are opened as they were sealed`(
    _ count: Int, _ fileSize: Int
  ) throws {
    let contents = [UInt8](repeating: 7, count: count)
    let file = try WorkedExample.seal(contents, as: WorkedExample.shard)
    #expect(file.count == fileSize)
    let opened = try SealedFormat.open(file, as: WorkedExample.identity(WorkedExample.shard), with: .example)
    #expect(Array(opened.contents) == contents)
  }

  @Test func `A length beyond the contents is refused`() throws {
    let header = Array(try WorkedExample.seal([], as: WorkedExample.shard)[..<72])
    let associated = header + Array(try WorkedExample.group.name.utf8)
    var plain = [UInt8](repeating: 0, count: 4096)
    plain.replaceSubrange(2..<4, with: [0x0f, 0xfd])
    let file = SealedFormat.sealed(
      plain, after: header, authenticating: associated, using: DataKeys.example.current.key,
      nonce: AES.GCM.Nonce())
    #expect(throws: SealError.unreadable("its length is not that of its contents.")) {
      try SealedFormat.open(file, as: WorkedExample.identity(WorkedExample.shard), with: .example)
    }
  }

  /// R12.4
  @Test func `The keys are sealed as the examples say`() throws {
    for example in try SharedFiles.workedExamples(with: "keys") {
      let file = bytes(hex: try example.string("keys"))
      let header = try SealedKeys.Header(file)
      #expect(try header.token == example.optionalString("token"))
      let sealing = try header.key(from: bytes(hex: example.string("secret_bytes")))
      #expect(try sealing.withUnsafeBytes { hex($0) } == example.string("key_of_keys"))
      let keys = try SealedKeys.open(file, with: sealing)
      #expect(keys.all.map(\.id) == [DataKeys.example.current.id])
      #expect(keys.current.key == DataKeys.example.current.key)
      let nonce = try AES.GCM.Nonce(data: bytes(hex: example.string("nonce")))
      #expect(SealedKeys.seal(keys, header, with: sealing, nonce: nonce) == file)
    }
    #expect([1, 11].map { SealedKeys.Scrypt(logN: $0, r: 8, p: 1).mebibytes } == [1, 2])
  }

  @Test func `A manifest finds, adds and removes entries in any order`() {
    var manifest = Manifest(sequence: 0)
    var expected: [ShardID: UInt64] = [:]
    let shards = (0..<200).map { ShardID(bytes: Array(SHA256.hash(data: [UInt8($0)])).prefix(16)) }
    for (number, shard) in (shards + shards.prefix(80).reversed()).enumerated() {
      let value = number < 200 || number.isMultiple(of: 2) ? UInt64(number) << 40 : nil
      manifest[shard] = value
      expected[shard] = value
    }
    #expect(manifest.shards.map(\.rawValue) == expected.keys.map(\.rawValue).sorted())
    for shard in shards { #expect(manifest[shard] == expected[shard]) }
  }
}
