import FoundationEssentials
import GLibSupport
import HTTPSupport
import HTTPTypes
import SecretService
import Synchronization
import TokenCache

/// Speaks to a cluster through the JSON gateway of etcd's API v3.
///
/// Every request may be carried out twice without harm: gets change nothing, transactions say which state they are for.
/// So what one endpoint leaves without an answer, the next one is asked.
final class EtcdClient: Sendable {
  /// The largest answer: the 4 MiB that gRPC takes, in base64 and more.
  static let maximumAnswerSize = 8 << 20
  /// How long one of several endpoints has to answer before the next one is asked.
  private static let patience = Duration.seconds(3)
  private static let maximumPatience = Duration.seconds(60)
  /// For how long endpoints that cannot be reached are tried again: so long it takes to start a member anew.
  private static let grace = Duration.seconds(3)

  let endpoints: [EtcdEndpoint]
  let transport: any HTTPTransport
  private let session: EtcdSession?
  private let state = Mutex(State())

  private struct State {
    /// The endpoint that answered last.
    var preferred = 0
    var cluster: String?
    /// The newest one that was seen.
    var revision: Int64 = 0
  }

  init(
    endpoints: [EtcdEndpoint], user: EtcdUser?, transport: any HTTPTransport, environment: [String: String],
    busAddress: String?
  ) {
    self.endpoints = endpoints
    self.transport = transport
    session = user.map { EtcdSession($0, environment: environment, busAddress: busAddress) }
  }

  private init(_ endpoint: EtcdEndpoint, _ other: EtcdClient) {
    (endpoints, transport, session) = ([endpoint], other.transport, other.session)
  }

  /// One that asks a single endpoint, as the same user.
  func only(_ endpoint: EtcdEndpoint) -> EtcdClient { EtcdClient(endpoint, self) }

  /// Asks a person for the user's password where that has to be, before time runs.
  func askForPassword() async throws(CacheError) { try await session?.askForPassword() }

  /// Sends a request until an endpoint answers it.
  ///
  /// - Parameters:
  ///   - method: The path of the gateway's method, such as `kv/range`.
  ///   - message: What it is sent.
  ///   - deadline: When to give up.
  /// - Returns: etcd's answer.
  /// - Throws: ``EtcdFailure``, which says whether the request may have been carried out all the same.
  func call(
    _ method: String, _ message: JSONObject, until deadline: ContinuousClock.Instant
  ) async throws(EtcdFailure) -> EtcdAnswer {
    let body = try Self.json(message)
    let began = ContinuousClock.now
    var patience = Self.patience
    var pause = Duration.milliseconds(50)
    var outcomeIsUnknown = false
    while true {
      var problems: [EtcdFailure] = []
      let (first, known) = state.withLock { ($0.preferred, $0.revision) }
      for offset in endpoints.indices {
        let index = (first + offset) % endpoints.count
        let remaining = deadline - .now
        guard remaining > .zero else { break }
        let limit = endpoints.count == 1 ? remaining : min(remaining, patience)
        do throws(EtcdFailure) {
          let answer = try await attempt(
            method, body, at: endpoints[index], until: ContinuousClock.now + limit)
          // Other methods tell what a member knows, and it may be behind.
          try take(answer, from: index, noOlderThan: method.hasPrefix("kv/") ? known : nil)
          return answer
        } catch {
          outcomeIsUnknown = outcomeIsUnknown || error.outcomeIsUnknown
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
        try await Task.sleep(for: pause * Double.random(in: 0.5...1))
      } catch {
        throw EtcdFailure(cause: .cancelled, outcomeIsUnknown: outcomeIsUnknown)
      }
      pause = min(pause * 2, .seconds(1))
      patience = min(patience * 2, Self.maximumPatience)
    }
  }

  /// Gets what an endpoint sends until it ends the answer, nobody wants more, or a quarter of an hour has passed.
  ///
  /// - Returns: False where the transport cannot do that.
  func stream(
    _ method: String, _ message: JSONObject, _ receive: @escaping @Sendable (Data) -> Bool
  ) async throws(EtcdFailure) -> Bool {
    let endpoint = endpoints[state.withLock(\.preferred)]
    let token = try await token(at: endpoint, until: .now + Self.patience)
    let request = request(method, try Self.json(message), token, to: endpoint, within: .seconds(900))
    do {
      let head = try await transport.stream(request, receive)
      if head.status == .unauthorized { session?.forget(token) }
      return true
    } catch .invalidRequest {
      return false
    } catch {
      throw EtcdFailure(error, at: endpoint)
    }
  }

  /// Leaves an endpoint that keeps silent for the next one.
  func leavePreferred() {
    state.withLock { $0.preferred = ($0.preferred + 1) % endpoints.count }
  }

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
  ) async throws(EtcdFailure) -> EtcdAnswer {
    var attempts = 0
    while true {
      attempts += 1
      let token = try await token(at: endpoint, until: deadline)
      do throws(EtcdFailure) {
        let object = try await send(method, body, token, to: endpoint, until: deadline)
        do {
          return try EtcdAnswer(object)
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
      (name, password) throws(EtcdFailure) in
      let message: JSONObject = ["name": .string(name), "password": .string(password)]
      let body: JSONObject
      do throws(EtcdFailure) {
        body = try await send(
          "auth/authenticate", Self.json(message), nil, to: endpoint, until: deadline)
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
    let object: JSONObject
    do {
      object = try EtcdAnswer.object(response.body)
    } catch {
      // Such as the page of a proxy.
      let reason =
        response.head.status == .ok ? error.cause : .malformed("its status is \(response.head.status.code)")
      throw EtcdFailure(reason, at: endpoint, outcomeIsUnknown: true)
    }
    guard response.head.status == .ok else {
      guard case .integer? = object["code"] else {
        throw EtcdFailure(
          .malformed("its status is \(response.head.status.code)"), at: endpoint, outcomeIsUnknown: true)
      }
      throw EtcdFailure(error: object, at: endpoint)
    }
    return object
  }

  private func request(
    _ method: String, _ body: Data, _ token: String?, to endpoint: EtcdEndpoint, within timeout: Duration
  ) -> HTTPTransportRequest {
    var head = endpoint.request("/v3/" + method)
    head.headerFields[.contentType] = "application/json"
    head.headerFields[.authorization] = token
    // A member that has lost its leader ends a watch, which it would else keep silent.
    if let hasLeader { head.headerFields[hasLeader] = "true" }
    return HTTPTransportRequest(
      head, body: body, timeout: timeout, maximumBodySize: Self.maximumAnswerSize, isRepeatable: true)
  }

  private let hasLeader = HTTPField.Name("Grpc-Metadata-hasleader")

  private static func json(_ message: JSONObject) throws(EtcdFailure) -> Data {
    do {
      return Data(try JSONValue.object(message).json(within: .cache))
    } catch {
      throw .malformed("the question for it has no form")
    }
  }

  /// Takes note of who answered. Two clusters must not be taken for one, nor what was for what is.
  private func take(
    _ answer: EtcdAnswer, from index: Int, noOlderThan known: Int64?
  ) throws(EtcdFailure) {
    let endpoint = endpoints[index]
    let cause: EtcdFailure.Cause? = state.withLock { state in
      guard state.cluster == nil || state.cluster == answer.cluster else {
        return .otherCluster(endpoint: endpoint.description)
      }
      if let known {
        guard answer.revision >= known else { return .behind(endpoint: endpoint.description) }
        state.revision = max(state.revision, answer.revision)
      }
      state.cluster = answer.cluster
      state.preferred = index
      return nil
    }
    if let cause { throw EtcdFailure(cause, at: endpoint, outcomeIsUnknown: true) }
  }
}
