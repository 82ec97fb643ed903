import Crypto
import Sealing
import SecretService
import TestSupport

@testable import EncryptedFileStore

/// The worked example of CacheFormat.md.
struct FormatTests {
  /// The digits after a name in the example's blocks, with the lines that follow it.
  private func digits(_ name: String, occurrence: Int = 0) throws -> String {
    let lines = try SharedFiles.cacheFormat(section: 13).split(
      separator: "\n", omittingEmptySubsequences: false)
    let starts = lines.indices.filter { lines[$0].hasPrefix(name + "  ") }
    let start = try #require(starts.indices.contains(occurrence) ? starts[occurrence] : nil)
    let rest = lines[(start + 1)...].prefix { $0.hasPrefix("      ") }
    return ([lines[start].dropFirst(name.count)] + rest).joined().filter { $0.isHexDigit && $0.isASCII }
  }

  private func bytes(_ range: Range<UInt8>) -> [UInt8] { Array(range) }

  private var key: DataKeys.Key {
    DataKeys.Key(id: bytes(0x20..<0x30), key: SymmetricKey(data: bytes(0..<32)))
  }

  private func identity() throws -> SealedFormat.Identity {
    let shard = ShardID(rawValue: "606a626a95cc901e49ea8d483e64dbfd")
    return .init(group: try KeychainGroup("com.example.office"), name: try #require(shard.bytes))
  }

  @Test func `A shard is sealed as the document says`() throws {
    let document = Array(#"{"Account":{}}"#.utf8)
    let nonce = try AES.GCM.Nonce(data: bytes(0x30..<0x3c))
    let identity = try identity()
    let file = document.withUnsafeBytes {
      SealedFormat.seal($0, as: identity, sequence: 7, with: key, nonce: nonce)
    }
    #expect(file.count == 4212)
    #expect(try hex(file[..<72]) == digits("header"))
    #expect(try hex(file[72..<84]) == digits("nonce"))
    #expect(try hex(file[84..<100]) == digits("sealed"))
    #expect(try hex(file[4180..<4196]) == digits("tag"))
    #expect(try hex(file[4196...]) == digits("checksum"))
    #expect(try hex(SHA256.hash(data: file)) == digits("SHA-256"))

    let opened = try SealedFormat.open(file, as: identity, with: DataKeys(current: key, older: []))
    #expect(opened.sequence == 7)
    #expect(Array(opened.contents) == document)
  }

  @Test(
    arguments: [
      (0, Array<UInt8>(0x40..<0x60)), (1, Array("correct horse battery staple".utf8)),
      (2, Array<UInt8>(0x80..<0xc0)),
    ].abbreviated)
  func `The keys are sealed as the document says`(_ row: Named<(Int, [UInt8])>) throws {
    let (occurrence, secret) = row.value
    let text = try digits("keys", occurrence: occurrence)
    let file = stride(from: 0, to: text.count, by: 2).compactMap {
      UInt8(text.dropFirst($0).prefix(2), radix: 16)
    }
    let header = try SealedKeys.Header(file)
    #expect(header.token == (occurrence == 2 ? "example" : nil))
    let sealing = try header.key(from: secret)
    let expected = try digits("key of keys", occurrence: occurrence)
    #expect(sealing.withUnsafeBytes { hex($0) } == expected)
    let keys = try SealedKeys.open(file, with: sealing)
    #expect(keys.all.map(\.id) == [key.id])
    #expect(keys.current.key == key.key)
    let nonce = try AES.GCM.Nonce(data: bytes(0x70..<0x7c))
    #expect(SealedKeys.seal(keys, header, with: sealing, nonce: nonce) == file)
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
