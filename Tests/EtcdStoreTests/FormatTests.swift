import Crypto
import FoundationEssentials
import HTTPSupport
import Synchronization
import TestSupport
import Testing
import TokenCache

@testable import EtcdStore
@testable import Sealing

/// The worked example of CacheFormat.md, and that the store does what the document says.
@Suite(.timeLimit(.minutes(20)))
struct FormatTests {
  private static let text: String = {
    let path = SharedFiles.repository.appendingPathComponent("CacheFormat.md")
    return (try? Data(contentsOf: path)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }()

  /// The JSON in the section, as an object.
  private func example(_ sealed: [UInt8]) throws -> JSONObject {
    let section = try #require(Self.text.components(after: "## 15. Groups in etcd"))
    let block = try #require(section.components(after: "```json")?.split(separator: "```").first)
    let json = block.replacing("<sealed>", with: Data(sealed).base64EncodedString())
    return try JSONDecoder().decode(JSONObject.self, from: Data(json.utf8))
  }

  @Test func `A write is the transaction that the document shows`() async throws {
    let key = DataKeys.Key(id: Array(0x20..<0x30), key: SymmetricKey(data: (0..<32).map { UInt8($0) }))
    let shard = ShardID(rawValue: "606a626a95cc901e49ea8d483e64dbfd")
    let group = try KeychainGroup("com.example.office")
    let identity = SealedFormat.Identity(group: group, name: try #require(shard.bytes))
    let nonce = try AES.GCM.Nonce(data: (0x30..<0x3c).map { UInt8($0) })
    let sealed = Array(#"{"Account":{}}"#.utf8).withUnsafeBytes {
      SealedFormat.seal($0, as: identity, sequence: 7, with: key, nonce: nonce)
    }
    let names = try EtcdNames(prefix: "/llavero/")
    let writer = names.writer("a0a1a2a3a4a5a6a7a8a9aaabacadaeaf")
    let id = (0x80..<0x90).map { UInt8($0) }
    let message = EtcdClient.message(
      if: [
        EtcdCondition(key: writer, modRevision: 0), EtcdCondition(key: names.keys, modRevision: 2),
        EtcdCondition(key: names.shard(shard, of: group), modRevision: 5),
      ],
      [
        .put(names.shard(shard, of: group), sealed), .put(names.stamp(of: group), id),
        .put(writer, id, lease: 7_587_862_094_714_327_312),
      ], otherwise: [.get(writer)])
    #expect(try message == example(sealed))
  }

  @Test func `What the store sends has the form of the example`() async throws {
    let fixture = try Fixture()
    try await fixture.store().increment(1, of: fixture)
    let sent = Mutex<JSONObject?>(nil)
    let store = try fixture.store(
      through: MeddlingTransport { (request, send) throws(HTTPTransportError) in
        if request.writes, let body = request.body {
          sent.withLock { $0 = try? JSONDecoder().decode(JSONObject.self, from: body) }
        }
        return try await send(request)
      })
    try await store.increment(1, of: fixture)
    let message = try #require(sent.withLock { $0 })
    let example = try example([])
    #expect(shape(.object(message)) == shape(.object(example)))
  }

  /// A value with each text and number replaced, but for the names of members.
  private func shape(_ value: JSONValue) -> JSONValue {
    switch value {
    case .object(let members): .object(members.mapValues(shape))
    case .array(let elements): .array(elements.map(shape))
    default: "…"
    }
  }

  @Test func `The values are called as the document says, and sealed as files are`() async throws {
    let fixture = try Fixture()
    let shard = fixture.shard(1)
    try await fixture.store().increment(1, of: fixture)
    let names = try fixture.names()
    #expect(names.count == 4)
    #expect(names.contains(fixture.prefix + "/keys"))
    #expect(names.contains("\(fixture.prefix)/\(fixture.group)/\(shard)"))
    #expect(names.contains("\(fixture.prefix)/\(fixture.group)/stamp"))
    let writer = try #require(names.first { $0.hasPrefix(fixture.prefix + "/writers/") })
    #expect(writer.dropFirst((fixture.prefix + "/writers/").count).count == 32)
    let stamp = try await fixture.value("\(fixture.prefix)/\(fixture.group)/stamp")
    #expect(try await fixture.value(writer) == stamp && stamp?.count == 16)
    let value = try #require(try await fixture.value(fixture.name(shard)))
    #expect(value.starts(with: Array("LLAVEROS".utf8)) && value.count == 4212)
    #expect(try await fixture.value(fixture.keys)?.starts(with: Array("LLAVEROK".utf8)) == true)
  }

  @Test func `No token is in what goes to etcd`() async throws {
    let fixture = try Fixture()
    let bodies = Mutex<[String]>([])
    let transport = MeddlingTransport { (request, send) throws(HTTPTransportError) in
      bodies.withLock { $0.append(request.body.map { String(decoding: $0, as: UTF8.self) } ?? "") }
      return try await send(request)
    }
    let shard = fixture.shard(1)
    let secret = "access.secret.0123456789"
    let document = CacheDocument([.accessToken(secret, of: "1.t")])
    try await fixture.store(through: transport).update([shard], in: fixture.group) { $0[shard] = document }
    let encoded = Data(secret.utf8.dropFirst(3).prefix(12)).base64EncodedString()
    #expect(bodies.withLock { $0.allSatisfy { !$0.contains(secret) && !$0.contains(encoded) } })
    #expect(try await fixture.store().read(.all, in: fixture.group).documents[shard] == document)
  }
}

extension StringProtocol where SubSequence == Substring {
  /// What follows the first occurrence of a text.
  fileprivate func components(after text: String) -> Substring? {
    firstRange(of: text).map { self[$0.upperBound...] }
  }
}
