import EtcdStore
import FoundationEssentials
import HTTPSupport
import HTTPTypes
import Synchronization
import TestSupport
import Testing
import TokenCache
import WorkerSupport

/// Answers that do not come, and requests that come late or twice: nothing is applied twice, and nothing is said to have
/// failed that was applied.
@Suite(.timeLimit(.minutes(20)))
struct LostAnswerTests {
  private let shard: ShardID
  private let fixture: Fixture

  init() throws {
    fixture = try Fixture()
    shard = fixture.shard(1)
  }

  /// Adds one to a number in the shard.
  private func increment(in store: EtcdCacheStore) async throws -> Int {
    try await store.update([shard], in: fixture.group) { [shard] contents in contents.increment(shard) }
  }

  private func number() async throws -> Int {
    try await fixture.store().read(.some([shard]), in: fixture.group).number(shard)
  }

  @Test func `A change whose answer is lost is made once`() async throws {
    _ = try await increment(in: fixture.store())
    let isFirst = Atomic(true)
    let store = try fixture.store(
      through: MeddlingTransport { (request, send) throws(HTTPTransportError) in
        let answer = try await send(request)
        if request.writes, isFirst.exchange(false, ordering: .relaxed) { throw .connectionLost("lost") }
        return answer
      })
    #expect(try await increment(in: store) == 2)
    #expect(try await number() == 2)
  }

  @Test func `A change that never arrived is made once`() async throws {
    _ = try await increment(in: fixture.store())
    let isFirst = Atomic(true)
    let store = try fixture.store(
      through: MeddlingTransport { (request, send) throws(HTTPTransportError) in
        if request.writes, isFirst.exchange(false, ordering: .relaxed) { throw .timedOut }
        return try await send(request)
      })
    #expect(try await increment(in: store) == 2)
    #expect(try await number() == 2)
  }

  @Test func `A change is known to have been made also where others have written over it since`() async throws
  {
    _ = try await increment(in: fixture.store())
    let isFirst = Atomic(true)
    let other = try fixture.store()
    let calls = Mutex(0)
    let store = try fixture.store(
      through: MeddlingTransport { [self] (request, send) throws(HTTPTransportError) in
        let answer = try await send(request)
        guard request.writes, isFirst.exchange(false, ordering: .relaxed) else { return answer }
        for _ in 0..<3 { _ = try? await increment(in: other) }
        throw .connectionLost("lost")
      })
    let result = try await store.update([shard], in: fixture.group) { [shard] contents in
      calls.withLock { $0 += 1 }
      return contents.increment(shard)
    }
    #expect(result == 2)
    #expect(calls.withLock { $0 } == 1)
    #expect(try await number() == 5)
  }

  @Test func `A request that arrives late changes nothing any more`() async throws {
    let held = Mutex<HTTPTransportRequest?>(nil)
    let store = try fixture.store(
      through: MeddlingTransport { (request, send) throws(HTTPTransportError) in
        let isHeld = held.withLock { held in
          guard request.writes, request.says("/writers/"), held == nil else { return false }
          held = request
          return true
        }
        if isHeld { throw .connectionLost("held") }
        return try await send(request)
      })
    #expect(try await increment(in: store) == 1)
    // All is again as the late request expects it to be: there is no shard.
    #expect(try await fixture.store().remove(.everything, in: fixture.group) == 1)
    let late = try #require(held.withLock { $0 })
    _ = try await MeddlingTransport.forward(late)
    #expect(try await number() == 0)
  }

  @Test func `What was given up changes nothing when it arrives late`() async throws {
    let held = Mutex<HTTPTransportRequest?>(nil)
    let other = try fixture.store()
    _ = try await increment(in: other)
    _ = try await other.remove(.everything, in: fixture.group)
    let store = try fixture.store(
      through: MeddlingTransport { [self] (request, send) throws(HTTPTransportError) in
        let isHeld = held.withLock { held in
          guard request.writes, request.says("/writers/"), held == nil else { return false }
          held = request
          return true
        }
        guard isHeld else { return try await send(request) }
        _ = try? await increment(in: other)
        throw .connectionLost("held")
      })
    let calls = Mutex(0)
    let error = await #expect(throws: CacheError.self) {
      try await store.update([shard], in: fixture.group) { [shard] (contents) throws(CacheError) in
        let call = calls.withLock { calls in
          calls += 1
          return calls
        }
        if call > 1 { throw CacheError(.signedOut, "Signed out meanwhile.") }
        return contents.increment(shard)
      }
    }
    #expect(error?.code == .signedOut)
    // The shard is away again, as the late request expects.
    _ = try await other.remove(.everything, in: fixture.group)
    let late = try #require(held.withLock { $0 })
    _ = try await MeddlingTransport.forward(late)
    #expect(try await number() == 0)
  }

  @Test func `Every request may come twice`() async throws {
    let store = try fixture.store(
      through: MeddlingTransport { (request, send) throws(HTTPTransportError) in
        _ = try await send(request)
        return try await send(request)
      })
    for expected in 1...5 { #expect(try await increment(in: store) == expected) }
    #expect(try await number() == 5)
    #expect(try await store.remove(.everything, in: fixture.group) == 1)
  }

  @Test func `Where nobody can tell whether a change was made, the error says so`() async throws {
    _ = try await increment(in: fixture.store())
    let store = try fixture.store(
      timeout: .seconds(10),
      through: MeddlingTransport { (request, send) throws(HTTPTransportError) in
        let answer = try await send(request)
        if request.writes { throw .connectionLost("lost") }
        return answer
      })
    let error = await #expect(throws: CacheError.self) { try await increment(in: store) }
    #expect(error?.code == .timedOut)
    #expect(error?.message.contains("Nobody can tell whether it was written") == true)
    #expect(try await number() == 2)
  }

  @Test func `A change that etcd refuses is not said to be unknown`() async throws {
    let store = try fixture.store(
      through: MeddlingTransport { (request, send) throws(HTTPTransportError) in
        guard request.writes, request.says("/writers/") else { return try await send(request) }
        return .init(
          .init(status: .tooManyRequests),
          body: .init(#"{"error":"etcdserver: mvcc: database space exceeded","code":8}"#.utf8))
      })
    let error = await #expect(throws: CacheError.self) { try await increment(in: store) }
    #expect(error?.code == .tooLarge && error?.message.contains("NOSPACE") == true)
    #expect(error?.message.contains("Nobody can tell") == false)
  }
}

extension HTTPTransportRequest {
  /// Whether one of its keys has something in it.
  func says(_ text: String) -> Bool {
    guard let body, let message = try? JSONObject(foreign: body, within: .cache) else { return false }
    return JSONValue.object(message).keys.contains { $0.contains(text) }
  }
}

extension JSONValue {
  /// The keys of etcd's that a message names.
  fileprivate var keys: [String] {
    switch self {
    case .array(let elements): elements.flatMap(\.keys)
    case .object(let members):
      members.flatMap { name, value in
        name == "key" ? [value.stringValue.flatMap { decoded($0) } ?? ""] : value.keys
      }
    default: []
    }
  }
}

private func decoded(_ base64: String) -> String? {
  Data(base64Encoded: base64).map { String(decoding: $0, as: UTF8.self) }
}

extension GroupContents {
  /// The number of the account in a shard, 0 where there is none.
  func number(_ shard: ShardID) -> Int {
    self[shard].accounts.values.first?.fields["number"]?.stringValue.flatMap { Int($0) } ?? 0
  }

  /// Adds one to the number, and returns it.
  mutating func increment(_ shard: ShardID, padding: Int = 0) -> Int {
    let number = number(shard) + 1
    let json = #"""
      {"Account": {"1.t-e-t": {"home_account_id": "1.t", "environment": "e", "realm": "t", "number": "\#(number)",
        "padding": "\#(String(repeating: "x", count: padding))"}}}
      """#
    self[shard] = (try? CacheDocument(json: Data(json.utf8))) ?? CacheDocument()
    return number
  }
}
