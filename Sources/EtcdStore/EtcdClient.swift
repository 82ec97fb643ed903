import FoundationEssentials
import GLibSupport
import HTTPSupport
import HTTPTypes
import SecretService
import Synchronization
import TokenCache

/// Sends requests to a cluster through the JSON gateway of etcd's API v3.
///
/// Every request may be carried out twice without harm: gets change nothing, transactions say which state they are for.
/// So a request that one endpoint does not respond to is sent to the next one.
final class EtcdClient: Sendable {
  /// The largest response: the 4 MiB that gRPC takes, in base64 and more.
  static let maximumResponseSize = 8 << 20
  /// How long one of several endpoints has to respond before the next one is asked.
  private static let timeout = Duration.seconds(3)
  private static let maximumTimeout = Duration.seconds(60)
  /// For how long endpoints that cannot be reached are tried again: so long it takes to restart a member.
  private static let grace = Duration.seconds(3)

  let endpoints: [EtcdEndpoint]
  let transport: any HTTPTransport
  private let session: EtcdSession?
  private let state = Mutex(State())

  private struct State {
    /// The endpoint that responded last.
    var preferred = 0
    var cluster: String?
    /// The newest one that was seen.
    var revision: Int64 = 0
  }

  init(_ endpoints: [EtcdEndpoint], _ session: EtcdSession?, _ transport: any HTTPTransport) {
    (self.endpoints, self.session, self.transport) = (endpoints, session, transport)
  }

  /// One that asks a single endpoint, as the same user.
  func only(_ endpoint: EtcdEndpoint) -> EtcdClient { EtcdClient([endpoint], session, transport) }

  /// Asks a person for the user's password where that is necessary, without a request that waits for it.
  func askForPassword() async throws(CacheError) { try await session?.askForPassword() }

  /// Throws what unlocking by ``askForPassword()`` cures.
  func checkPassword() throws(CacheError) { try session?.checkPassword() }

  /// Carries operations out where all conditions hold, and others where not.
  func transaction(
    if conditions: [EtcdCondition] = [], _ operations: [EtcdOperation], otherwise: [EtcdOperation] = [],
    until deadline: ContinuousClock.Instant
  ) async throws(EtcdFailure) -> EtcdOutcome {
    let message = Self.message(if: conditions, operations, otherwise: otherwise)
    let isPossible = !conditions.contains { $0.modRevision == .max }
    let isWrite = isPossible && operations.contains(where: \.isWrite)
    let response = try await call("kv/txn", message, isWrite: isWrite, until: deadline)
    do {
      return try EtcdOutcome(response, if: conditions, of: operations, otherwise: otherwise)
    } catch {
      throw EtcdFailure(cause: error.cause, outcomeIsUnknown: isWrite)
    }
  }

  static func message(
    if conditions: [EtcdCondition], _ operations: [EtcdOperation], otherwise: [EtcdOperation]
  ) -> JSONObject {
    [
      "compare": .array(conditions.map(\.json)), "success": .array(operations.map(\.json)),
      "failure": .array(otherwise.map(\.json)),
    ]
  }

  /// The first values of a range, in the order of their keys: at a revision, or the keys alone as they are now.
  func page(
    of range: EtcdRange, at revision: Int64?, limit: Int, until deadline: ContinuousClock.Instant
  ) async throws(EtcdFailure) -> EtcdPage {
    let message: JSONObject = [
      "key": .base64(range.start), "range_end": .base64(range.end), "revision": .number(revision ?? 0),
      "limit": .number(Int64(limit)), "keys_only": .bool(revision == nil),
    ]
    return try EtcdPage(await call("kv/range", message, until: deadline), of: range)
  }

  /// A new lease, which ends after a number of seconds.
  func lease(seconds: Int64, until deadline: ContinuousClock.Instant) async throws(EtcdFailure) -> Int64 {
    let lease = try await call("lease/grant", ["TTL": .number(seconds)], until: deadline).body.number("ID")
    guard lease > 0 else { throw .malformed("it holds no lease") }
    return lease
  }

  /// Sends a request, such as `kv/range`, until an endpoint responds. The failure of a write says whether it may have been
  /// carried out all the same.
  func call(
    _ method: String, _ message: JSONObject, isWrite: Bool = false, until deadline: ContinuousClock.Instant
  ) async throws(EtcdFailure) -> EtcdResponse {
    let body = try Self.json(message)
    let began = ContinuousClock.now
    var timeout = Self.timeout
    var pause = Duration.milliseconds(50)
    var outcomeIsUnknown = false
    while true {
      var problems: [EtcdFailure] = []
      let (first, known) = state.withLock { ($0.preferred, $0.revision) }
      for offset in endpoints.indices {
        let index = (first + offset) % endpoints.count
        let remaining = deadline - .now
        guard remaining > .zero else { break }
        let limit = endpoints.count == 1 ? remaining : min(remaining, timeout)
        do throws(EtcdFailure) {
          let response = try await attempt(
            method, body, at: endpoints[index], until: ContinuousClock.now + limit)
          // Other methods return what a member knows, and it may be behind.
          try note(response, from: index, noOlderThan: method.hasPrefix("kv/") ? known : nil)
          return response
        } catch {
          outcomeIsUnknown = outcomeIsUnknown || isWrite && error.outcomeIsUnknown
          if error.isFinal {
            throw EtcdFailure(cause: error.cause, outcomeIsUnknown: outcomeIsUnknown)
          }
          problems.append(error)
        }
      }
      let mayRecover =
        problems.contains { $0.isTransient }
        || problems.contains { $0.mayBeRestarting } && ContinuousClock.now - began < Self.grace
      guard mayRecover, ContinuousClock.now + pause < deadline else {
        throw EtcdFailure(cause: Self.cause(of: problems), outcomeIsUnknown: outcomeIsUnknown)
      }
      do {
        try await Self.pause(for: pause * Double.random(in: 0.5...1))
      } catch {
        throw EtcdFailure(cause: error.cause, outcomeIsUnknown: outcomeIsUnknown)
      }
      pause = min(pause * 2, .seconds(1))
      timeout = min(timeout * 2, Self.maximumTimeout)
    }
  }

  /// Receives what an endpoint sends until it ends the response, `receive` returns false, or a quarter of an hour has passed.
  ///
  /// - Returns: False where the transport cannot do that.
  func stream(
    _ method: String, _ message: JSONObject, _ receive: @escaping @Sendable (Data) -> Bool
  ) async throws(EtcdFailure) -> Bool {
    let endpoint = endpoints[state.withLock(\.preferred)]
    let token = try await token(at: endpoint, until: .now + Self.timeout)
    let request = request(method, try Self.json(message), token, to: endpoint, within: .seconds(900))
    do {
      // A token that is no longer valid is renewed by the next poll, which comes before the next stream.
      _ = try await transport.stream(request, receive)
      return true
    } catch .invalidRequest {
      return false
    } catch {
      throw EtcdFailure(error, at: endpoint)
    }
  }

  static func pause(for duration: Duration) async throws(EtcdFailure) {
    do { try await Task.sleep(for: duration) } catch { throw EtcdFailure(cause: .cancelled) }
  }

  /// Leaves an endpoint that does not respond for the next one.
  func leavePreferred() { state.withLock { $0.preferred = ($0.preferred + 1) % endpoints.count } }

  private static func cause(of problems: [EtcdFailure]) -> EtcdFailure.Cause {
    if problems.allSatisfy(\.isUnreachable), !problems.isEmpty { return .unreachable(problems.map(\.reason)) }
    if !problems.contains(where: \.isTransient), let problem = problems.first(where: { !$0.isUnreachable }) {
      return problem.cause
    }
    return .timedOut(problems.map(\.reason))
  }

  /// Asks one endpoint, and again where its token had run out.
  private func attempt(
    _ method: String, _ body: Data, at endpoint: EtcdEndpoint, until deadline: ContinuousClock.Instant
  ) async throws(EtcdFailure) -> EtcdResponse {
    var attempts = 0
    while true {
      attempts += 1
      let token = try await token(at: endpoint, until: deadline)
      do throws(EtcdFailure) {
        let object = try await send(method, body, token, to: endpoint, until: deadline)
        do {
          return try EtcdResponse(object)
        } catch {
          throw EtcdFailure(error.cause, at: endpoint, outcomeIsUnknown: true)
        }
      } catch  where error.isStaleToken && session != nil && attempts < 4 {
        session?.forget(token)
      }
    }
  }

  private func token(
    at endpoint: EtcdEndpoint, until deadline: ContinuousClock.Instant
  ) async throws(EtcdFailure) -> String? {
    guard let session else { return nil }
    return try await session.token(at: endpoint, within: deadline - .now) {
      [self] (name, password) async throws(EtcdFailure) in
      let message: JSONObject = ["name": .string(name), "password": .string(password)]
      let body: JSONObject
      do throws(EtcdFailure) {
        body = try await send("auth/authenticate", Self.json(message), nil, to: endpoint, until: deadline)
      } catch  where error.isAuthenticationDisabled {
        return nil
      }
      guard let token = body["token"]?.stringValue, HTTPField.isValidValue(token) else {
        throw EtcdFailure(.malformed("it holds no token"), at: endpoint, outcomeIsUnknown: false)
      }
      return token
    }
  }

  private func send(
    _ method: String, _ body: Data, _ token: String?, to endpoint: EtcdEndpoint,
    until deadline: ContinuousClock.Instant
  ) async throws(EtcdFailure) -> JSONObject {
    let response: HTTPTransportResponse
    do {
      response = try await transport.send(
        request(method, body, token, to: endpoint, within: max(deadline - .now, .zero)))
    } catch {
      throw EtcdFailure(error, at: endpoint)
    }
    let isOK = SuccessStatus.isDocument(response.head.status.code)
    // Such as the page of a proxy.
    let unexpected = EtcdFailure.Cause.malformed("its status is \(response.head.status.code)")
    let object: JSONObject
    do {
      object = try EtcdResponse.object(response.body)
    } catch {
      if isOK, response.isCutOff { throw EtcdFailure(.cutOff(by: "\(endpoint)"), at: endpoint) }
      throw EtcdFailure(isOK ? error.cause : unexpected, at: endpoint, outcomeIsUnknown: true)
    }
    if isOK { return object }
    guard case .integer? = object["code"] else {
      throw EtcdFailure(unexpected, at: endpoint, outcomeIsUnknown: true)
    }
    throw EtcdFailure(error: object, at: endpoint)
  }

  private func request(
    _ method: String, _ body: Data, _ token: String?, to endpoint: EtcdEndpoint, within timeout: Duration
  ) -> HTTPTransportRequest {
    var head = endpoint.request("/v3/" + method)
    head.headerFields[.contentType] = "application/json"
    head.headerFields[.authorization] = token
    // A member that has lost its leader ends a watch, which would else just stop.
    if let hasLeader { head.headerFields[hasLeader] = "true" }
    return HTTPTransportRequest(
      head, body: body, timeout: timeout, maximumBodySize: Self.maximumResponseSize, isRepeatable: true,
      isSelfDelimiting: true)
  }

  private let hasLeader = HTTPField.Name("Grpc-Metadata-hasleader")

  private static func json(_ message: JSONObject) throws(EtcdFailure) -> Data {
    do {
      return Data(try JSONWriter.bytes(of: .object(message), within: .cache))
    } catch {
      throw .malformed("the request for it cannot be encoded")
    }
  }

  /// Notes who responded. Two clusters must not be taken for one, nor an old state for the present one.
  private func note(
    _ response: EtcdResponse, from index: Int, noOlderThan known: Int64?
  ) throws(EtcdFailure) {
    let endpoint = endpoints[index]
    let cause: EtcdFailure.Cause? = state.withLock { state in
      guard state.cluster == nil || state.cluster == response.cluster else {
        return .otherCluster(endpoint: endpoint.description)
      }
      if let known {
        guard response.revision >= known else { return .behind(endpoint: endpoint.description) }
        state.revision = max(state.revision, response.revision)
      }
      state.cluster = response.cluster
      state.preferred = index
      return nil
    }
    if let cause { throw EtcdFailure(cause, at: endpoint, outcomeIsUnknown: true) }
  }
}

extension HTTPTransportResponse {
  /// Whether a body that is not valid may be the beginning of a JSON object: libsoup (to 3.4) takes the end of a connection
  /// between two chunks for the end of the body.
  fileprivate var isCutOff: Bool {
    head.headerFields[.transferEncoding] != nil && (body.isEmpty || body.first == UInt8(ascii: "{"))
  }
}
