import GLibSupport
import Sealing
import StoreSupport
import TestSupport

@testable import EtcdStore

/// Lost responses, and requests that arrive late or twice: nothing is applied twice, and nothing that was applied is
/// reported as failed.
@Suite(.timeLimit(.minutes(20)))
struct LostAnswerTests {
  private let fixture: Fixture

  init() throws { fixture = try Fixture() }

  @Test(.requirement("R15.6"), .fault("lost answer"), arguments: [true, false])
  func `A change whose request or response is lost is made once`(arrives: Bool) async throws {
    _ = try await fixture.store().increment(1, of: fixture)
    let store = try fixture.store(firstChange: { (request, send) throws(HTTPTransportError) in
      guard arrives else { throw .timedOut }
      _ = try await send(request)
      throw .connectionLost("lost")
    })
    #expect(try await store.increment(1, of: fixture) == 2)
    #expect(try await fixture.number() == 2)
  }

  @Test(.fault("lost answer"))
  func `A change is known to have been made also where others have written over it since`() async throws {
    _ = try await fixture.store().increment(1, of: fixture)
    let other = try fixture.store()
    let calls = Mutex(0)
    let store = try fixture.store(firstChange: { [fixture] (request, send) throws(HTTPTransportError) in
      _ = try await send(request)
      for _ in 0..<3 { _ = try? await other.increment(1, of: fixture) }
      throw .connectionLost("lost")
    })
    let result = try await store.update([fixture.shard(1)], in: fixture.group) { [fixture] contents in
      calls.withLock { $0 += 1 }
      return fixture.increment(1, in: &contents)
    }
    #expect(result == 2)
    #expect(calls.withLock { $0 } == 1)
    #expect(try await fixture.number() == 5)
  }

  @Test(.fault("late request")) func `A request that arrives late changes nothing any more`() async throws {
    let held = Mutex<HTTPTransportRequest?>(nil)
    let store = try fixture.store(firstChange: { (request, _) throws(HTTPTransportError) in
      held.withLock { $0 = request }
      throw .connectionLost("held")
    })
    #expect(try await store.increment(1, of: fixture) == 1)
    // All is again as the late request expects it to be: there is no shard.
    #expect(try await fixture.store().remove(.everything, in: fixture.group) == 1)
    let late = try #require(held.withLock { $0 })
    _ = try await MeddlingTransport.forward(late)
    #expect(try await fixture.number() == 0)
  }

  @Test(.fault("lost answer"), arguments: [false, true])
  func `Where a refused commit cannot be looked at again its outcome is open`(removes: Bool) async throws {
    let other = try fixture.store()
    try await other.increment(1, of: fixture)
    let isGone = Atomic(false)
    let transport = MeddlingTransport { [fixture] (request, send) throws(HTTPTransportError) in
      // A removal lists keys after it has looked.
      if isGone.load(ordering: .relaxed), !removes || request.head.path == "/v3/kv/range" {
        throw .cannotFindHost("gone")
      }
      guard request.writes, request.says("/writers/") else { return try await send(request) }
      isGone.store(true, ordering: .relaxed)
      _ = try? await other.increment(1, of: fixture)
      return try await send(request)
    }
    let store = try fixture.store(through: transport)
    let error = await expectCacheError(.unavailable) {
      removes
        ? try await store.remove(.everything, in: fixture.group) : try await store.increment(1, of: fixture)
    }
    #expect(error?.message.ranges(of: "may or may not have been applied").count == 1)
    #expect(error?.leavesOutcomeOpen == true)
  }

  @Test(
    .fault("lost answer"),
    arguments: [
      (.cancelled, .cancelled, true), (.responseTooLarge(limit: 1), .refused, true),
      (.malformedResponse("noise"), .refused, true), (.untrustedServer("unknown"), .unavailable, false),
      (.notConnected("no network"), .unavailable, false), (.cannotFindHost("gone"), .unavailable, false),
      (.invalidRequest("no path"), .unavailable, false),
      (.invalidConfiguration("no files"), .unavailable, false),
    ] as [(HTTPTransportError, CacheError.Code, Bool)])
  func `The outcome of a failed change is open where etcd may have had the request`(
    _ failure: HTTPTransportError, _ code: CacheError.Code, _ isOpen: Bool
  ) async throws {
    let store = try fixture.store(firstChange: { (_, _) throws(HTTPTransportError) in throw failure })
    let error = await expectCacheError(code) { _ = try await store.increment(1, of: fixture) }
    #expect(error?.leavesOutcomeOpen == isOpen)
    #expect(error?.message.contains("may or may not have been applied") == isOpen)
    #expect(try await store.increment(1, of: fixture) == 1)
  }

  /// The last is another cluster's.
  @Test(
    .fault("lost answer"),
    arguments: [
      (200, "no JSON"), (200, "{}"), (502, "<html>"), (502, "{}"),
      (200, #"{"header":{"revision":"5","cluster_id":"1"}}"#),
    ])
  func `The outcome of a change is open where the response is invalid`(_ status: Int, _ body: String)
    async throws
  {
    let store = try fixture.store(firstChange: { (_, _) throws(HTTPTransportError) in
      .init(.init(status: .init(code: status)), body: Data(body.utf8))
    })
    let error = await expectCacheError(.refused) { _ = try await store.increment(1, of: fixture) }
    #expect(error?.leavesOutcomeOpen == true)
  }

  @Test(
    .fault("lost answer"),
    arguments: [.cannotConnect("refused"), .secureConnectionFailed("reset")] as [HTTPTransportError])
  func `A change to a node that is being started is sent again`(_ failure: HTTPTransportError) async throws {
    let store = try fixture.store(firstChange: { (_, _) throws(HTTPTransportError) in throw failure })
    #expect(try await store.increment(1, of: fixture) == 1)
  }

  @Test(.requirement("R15.8"), .fault("late request"), arguments: [false, true])
  func `A late request of a failing call is applied before the call ends, or never`(isInTime: Bool)
    async throws
  {
    let held = Mutex<HTTPTransportRequest?>(nil)
    let other = try fixture.store()
    _ = try await other.increment(1, of: fixture)
    _ = try await other.remove(.everything, in: fixture.group)
    let transport = MeddlingTransport { [fixture] (request, send) throws(HTTPTransportError) in
      guard request.writes, request.says("/writers/") else { return try await send(request) }
      guard let late = held.withLock({ $0 }) else {
        held.withLock { $0 = request }
        _ = try? await other.increment(1, of: fixture)
        throw .connectionLost("held")
      }
      // The fence, which changes no group.
      if isInTime, !request.says("/stamp") {
        _ = try? await other.remove(.everything, in: fixture.group)
        _ = try await send(late)
      }
      return try await send(request)
    }
    let store = try fixture.store(through: transport)
    let calls = Atomic(0)
    let shard = fixture.shard(1)
    do throws(CacheError) {
      let result = try await store.update([shard], in: fixture.group) {
        [fixture] (contents) throws(CacheError) in
        if calls.add(1, ordering: .relaxed).newValue > 1 {
          throw CacheError(.signedOut, "Signed out meanwhile.")
        }
        return fixture.increment(1, in: &contents)
      }
      #expect(isInTime && result == 1)
    } catch {
      #expect(!isInTime && error.code == .signedOut && error.message == "Signed out meanwhile.")
    }
    if !isInTime {
      // The shard is away again, as the late request expects.
      _ = try await other.remove(.everything, in: fixture.group)
      let late = try #require(held.withLock { $0 })
      _ = try await MeddlingTransport.forward(late)
    }
    #expect(try await fixture.number() == (isInTime ? 1 : 0))
  }

  @Test(.fault("late request", "etcd twice")) func `Every request may come twice`() async throws {
    let store = try fixture.store(
      through: MeddlingTransport { (request, send) throws(HTTPTransportError) in
        _ = try await send(request)
        return try await send(request)
      })
    for expected in 1...20 { #expect(try await store.increment(1, of: fixture) == expected) }
    #expect(try await store.rekey().left == 0)
    #expect(try await fixture.number() == 20)
    #expect(try await store.remove(.everything, in: fixture.group) == 1)
  }

  @Test(.requirement("R15.9"), .fault("etcd silent"))
  func `When the outcome of a change is unknown, the error says so`() async throws {
    _ = try await fixture.store().increment(1, of: fixture)
    let isApplied = Atomic(false)
    let transport = MeddlingTransport { (request, send) throws(HTTPTransportError) in
      let answer = try await send(request)
      guard request.writes else { return answer }
      isApplied.store(true, ordering: .relaxed)
      throw .connectionLost("lost")
    }
    var error: CacheError?
    // On a busy machine the time may be over before the change is sent.
    for timeout in [10, 40, 160, 600] where !isApplied.load(ordering: .relaxed) {
      let store = try fixture.store(timeout: .seconds(timeout), through: transport)
      error = await expectCacheError(.timedOut) { try await store.increment(1, of: fixture) }
    }
    let isSent = isApplied.load(ordering: .relaxed)
    #expect(isSent)
    #expect(error?.message.ranges(of: "may or may not have been applied").count == 1)
    #expect(try await fixture.number() == 2)
  }

  @Test(.fault("etcd silent"))
  func `Work that the deadline cancels has timed out, and any other was cancelled`() async throws {
    func outcome(_ cancellable: Cancellable) async -> String {
      await blocking {
        do throws(EtcdFailure) {
          try waiting(cancellable) { () async throws(EtcdFailure) in
            try await EtcdClient.pause(for: .seconds(600))
          }
          return "done"
        } catch {
          return "\(error.cause)"
        }
      }
    }
    #expect(await outcome(Cancellable(timeout: .milliseconds(50))) == "timedOut([])")
    let cancellable = Cancellable(timeout: .seconds(600))
    cancellable.cancel()
    #expect(await outcome(cancellable) == "cancelled")
  }

  @Test(.fault("late request"))
  func `A change that is applied after it was refused is known to have been made`() async throws {
    let other = try fixture.store()
    _ = try await other.increment(1, of: fixture)
    _ = try await other.remove(.everything, in: fixture.group)
    let store = try fixture.store(firstChange: { [fixture] (request, send) throws(HTTPTransportError) in
      _ = try? await other.increment(1, of: fixture)
      let refusal = try await send(request)
      // A second copy arrives when all is again as the request expects it to be.
      _ = try? await other.remove(.everything, in: fixture.group)
      _ = try await send(request)
      return refusal
    })
    #expect(try await store.increment(1, of: fixture) == 1)
    #expect(try await fixture.number() == 1)
  }

  @Test(.fault("lost answer"), arguments: [false, true])
  func `A call that is cancelled during its commit says that it may be applied`(removes: Bool) async throws {
    _ = try await fixture.store().increment(1, of: fixture)
    let isSent = Atomic(false)
    let store = try fixture.store(firstChange: { (request, send) throws(HTTPTransportError) in
      _ = try await send(request)
      isSent.store(true, ordering: .relaxed)
      do { try await Task.sleep(for: .seconds(600)) } catch {}
      throw .cancelled
    })
    let call = Task {
      removes
        ? try await store.remove(.everything, in: fixture.group) : try await store.increment(1, of: fixture)
    }
    try await eventually { isSent.load(ordering: .relaxed) }
    call.cancel()
    let error = await expectCacheError(.cancelled) { try await call.value }
    #expect(error?.message.contains("may or may not have been applied") == true)
    #expect(try await fixture.number() == (removes ? 0 : 2))
  }

  @Test(.fault("etcd silent")) func `A change that etcd refuses has a known outcome`() async throws {
    let other = try fixture.store()
    let isFirst = Atomic(true)
    let store = try fixture.store(
      through: MeddlingTransport { [fixture] (request, send) throws(HTTPTransportError) in
        guard request.writes, request.says("/writers/") else { return try await send(request) }
        if isFirst.exchange(false, ordering: .relaxed) {
          // This one fails since another writer was faster.
          _ = try? await other.increment(1, of: fixture)
          return try await send(request)
        }
        return .init(
          .init(status: .tooManyRequests),
          body: .init(#"{"error":"etcdserver: mvcc: database space exceeded","code":8}"#.utf8))
      })
    let error = await expectCacheError(.tooLarge) { try await store.increment(1, of: fixture) }
    #expect(error?.message.contains("NOSPACE") == true)
    #expect(error?.message.contains("may or may not") == false)
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
