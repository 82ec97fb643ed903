import Crypto
import TestSupport

@testable import EtcdStore
@testable import Sealing

/// The worked example of CacheFormat.md, and that the store does what the document says.
@Suite(.timeLimit(.minutes(20)))
struct FormatTests {
  /// The transaction of the example, with a shard.
  private func example(_ sealed: [UInt8]) throws -> JSONObject {
    let example = try #require(try SharedFiles.workedExamples(with: "transaction").first)
    let json = String(decoding: try JSONEncoder().encode(example.object("transaction")), as: UTF8.self)
      .replacing("<sealed>", with: Data(sealed).base64EncodedString())
    return try JSONDecoder().decode(JSONObject.self, from: Data(json.utf8))
  }

  @Test(arguments: [
    ("3.3.27", false), ("3.4.9", false), ("3.4.10", true), ("3.4.23", true), ("3.5.0", false),
    ("3.5.2", false), ("3.5.3", true),
    ("3.5.16-rc.1", true), ("3.6.0", true), ("4.0.0", true), ("", false),
  ])
  func `Versions that can lose data are not supported`(_ version: String, _ isSupported: Bool) {
    #expect(EtcdMember.isSupported(version) == isSupported)
  }

  @Test func `A member's latency is measured by five reads`() async throws {
    let transport = MeddlingTransport()
    let member = try #require(try await Fixture().store(through: transport).members().first).get()
    #expect(member.isLeader && member.latency > .zero)
    #expect(transport.methods.count { $0 == "/v3/kv/txn" } == 5)
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

  /// The keys are `/test/a`, `/test/b` and, beyond the range, `/test0`.
  @Test(
    arguments: [
      (#""count":true"#, 0), (#""count":"99999999999999""#, 4_294_967_296),
      (#""count":"3","more":true,"kvs":[{"key":"L3Rlc3QvYQ==","mod_revision":"1"}]"#, 3),
      (#""kvs":[{"key":"L3Rlc3QvYQ==","mod_revision":"5"}]"#, 1),
      (#""kvs":[{"key":"L3Rlc3QvYQ==","mod_revision":"6"}]"#, nil),
      (#""kvs":[{"key":"L3Rlc3QvYQ==","mod_revision":"+5"}]"#, nil),
      (#""kvs":[{"key":"L3Rlc3QvYQ=="}]"#, nil), (#""kvs":[{"mod_revision":"5"}]"#, nil),
      (#""kvs":[{"key":"L3Rlc3Qw","mod_revision":"5"}]"#, nil),
      (
        #""kvs":[{"key":"L3Rlc3QvYg==","mod_revision":"5"},{"key":"L3Rlc3QvYQ==","mod_revision":"5"}]"#,
        nil
      ),
      (#""more":true"#, nil), (#""more":1"#, nil), (#""kvs":[1]"#, nil), (#""kvs":{}"#, nil),
      (#""x":\#(String(repeating: "[", count: 15))\#(String(repeating: "]", count: 15))"#, 0),
      (#""x":\#(String(repeating: "[", count: 16))\#(String(repeating: "]", count: 16))"#, nil),
    ] as [(String, Int?)])
  func `A page is refused that cannot be one, but not for its count of keys`(
    _ members: String, _ expected: Int?
  ) {
    let json = Data(#"{"header":{"revision":"5","cluster_id":"1"},\#(members)}"#.utf8)
    let count = try? EtcdPage(EtcdResponse(EtcdResponse.object(json)), of: EtcdRange(below: "/test")).count
    #expect(count == expected)
  }

  @Test func `A failure says whether etcd may have had the request, or wants another token`() throws {
    let endpoint = try EtcdEndpoint("https://localhost:1")
    for error in [.timedOut, .cannotConnect("no"), .secureConnectionFailed("no")] as [HTTPTransportError] {
      #expect(EtcdFailure(error, at: endpoint).outcomeIsUnknown)
    }
    // Without a number an error is an unknown one, which another member may not have.
    let unknown = EtcdFailure(error: ["error": "etcdserver: stopped"], at: endpoint)
    #expect(unknown.outcomeIsUnknown && !unknown.isFinal && !unknown.isStaleToken)
    for words in ["user name is empty", "revision of auth store is old"] {
      let error: JSONObject = ["code": .integer(3), "error": .string("etcdserver: " + words)]
      #expect(EtcdFailure(error: error, at: endpoint).isStaleToken)
    }
  }

  @Test func `Sixty operations are sent as they are, and more in parts`() {
    func sizes(_ count: Int) -> [Int] {
      EtcdOperation.grouped(Array(repeating: .delete("key"), count: count)).map { operation in
        if case .all(let part) = operation { part.count } else { 0 }
      }
    }
    #expect(sizes(60) == Array(repeating: 0, count: 60))
    #expect(sizes(61) == [60, 1])
  }

  @Test func `A response that arrives late says nothing of what was seen since`() throws {
    let group = EtcdGroup(try KeychainGroup("org.example"), writer: "", watch: nil)
    let shard = ShardID(rawValue: "606a626a95cc901e49ea8d483e64dbfd")
    #expect(group.see(shard, sequence: 5, at: 10))
    #expect(group.see(shard, sequence: 4, at: 9))
    group.keep(shard, .init(document: CacheDocument(), sequence: 5, modRevision: 10))
    group.forget(shard, at: 9)
    #expect(!group.see(shard, sequence: 4, at: 10))
    #expect(group.kept([shard]).count == 1)
    group.forget(shard, at: 10)
    #expect(group.see(shard, sequence: 4, at: 10))
    #expect(group.kept([shard]).isEmpty)
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

  /// The parts of a part that is too large are requested next, and what lies beyond its end later.
  @Test func `The parts of a range of shards meet, and end where it ends`() throws {
    let group = try EtcdNames(prefix: "/p").group(KeychainGroup("org.example"))
    let rest = group.after(Array("/p/org.example/10000000aa".utf8))
    let quarters = rest.split(into: 4)
    #expect(quarters[1].start == Array("/p/org.example/4c000000".utf8))
    for (part, parts) in [(rest, quarters)] + quarters.map({ ($0, $0.split(into: 3)) }) {
      #expect(parts.count == (part.start == rest.start && part.end == rest.end ? 4 : 3))
      #expect(parts.first?.start == part.start)
      #expect(parts.last?.end == part.end)
      #expect(parts.allSatisfy { $0.start.lexicographicallyPrecedes($0.end) })
      #expect(zip(parts, parts.dropFirst()).allSatisfy { $0.end == $1.start })
    }
    let three = rest.split(into: 4096)[1].split(into: 4096)[1].split(into: 80)[1]
    #expect(three.split(into: 3).count == 3)
    #expect(three.split(into: 4).count == 1)
  }

  @Test func `A part of a group whose rest begins with another program's key is not split`() throws {
    let group = try EtcdNames(prefix: "/p").group(KeychainGroup("org.example"))
    let parts = group.after(Array("/p/org.example/10000000aa".utf8)).split(into: 4)
    // Capital letters come before small ones, so this is in the part, though its number is beyond it.
    let key = Array("/p/org.example/F0000000".utf8)
    let part = try #require(parts.first { $0.contains(key) && $0.end != group.end })
    #expect(part.after(key).split(into: 4).map(\.end) == [part.end])
  }
}
