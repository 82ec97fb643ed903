import FoundationEssentials
import HTTPSupport
import HTTPTypes
import SoupTransport
import Synchronization

/// A transport that does something else with some requests, such as losing the answer.
final class MeddlingTransport: HTTPTransport {
  typealias Send = @Sendable (HTTPTransportRequest) async throws(HTTPTransportError) -> HTTPTransportResponse

  typealias Meddle =
    @Sendable (HTTPTransportRequest, Send) async throws(HTTPTransportError) -> HTTPTransportResponse

  typealias Stream =
    @Sendable (_ number: Int, HTTPTransportRequest, @escaping @Sendable (Data) -> Bool)
    async throws(HTTPTransportError) -> HTTPResponse

  private let meddle: Meddle
  private let openStream: Stream
  private let paths = Mutex<[String]>([])
  private let streamCount = Atomic(0)

  /// - Parameter meddle: Answers a request, perhaps by the transport that it is given.
  init(_ meddle: @escaping Meddle) {
    self.meddle = meddle
    openStream = { (_, request, receive) throws(HTTPTransportError) in
      try await Self.stream(request, receive)
    }
  }

  /// - Parameter stream: Answers a request for a stream.
  init(stream: @escaping Stream) {
    openStream = stream
    meddle = { (request, send) throws(HTTPTransportError) in try await send(request) }
  }

  /// One that makes something else of the parts of a stream; `nil` ends it.
  convenience init(receive own: @escaping @Sendable (Data) -> Data? = { $0 }) {
    self.init(stream: { (_, request, receive) throws(HTTPTransportError) in
      try await Self.stream(request) { part in own(part).map { $0.isEmpty || receive($0) } ?? false }
    })
  }

  /// One that does something else with the first request that changes a group.
  convenience init(firstChange meddle: @escaping Meddle) {
    let isFirst = Atomic(true)
    self.init { (request, send) throws(HTTPTransportError) in
      guard request.writes, request.says("/writers/"), isFirst.exchange(false, ordering: .relaxed) else {
        return try await send(request)
      }
      return try await meddle(request, send)
    }
  }

  /// One that gives answers with another text in place of one.
  convenience init(
    replacing text: String, with other: String, where applies: @escaping @Sendable () -> Bool = { true }
  ) {
    self.init { (request, send) throws(HTTPTransportError) in
      var answer = try await send(request)
      if applies() {
        answer.body = Data(String(decoding: answer.body, as: UTF8.self).replacing(text, with: other).utf8)
      }
      return answer
    }
  }

  /// The methods that were called.
  var methods: [String] { paths.withLock { $0 } }
  /// How many streams have begun.
  var streams: Int { streamCount.load(ordering: .relaxed) }

  func send(_ request: HTTPTransportRequest) async throws(HTTPTransportError) -> HTTPTransportResponse {
    paths.withLock { $0.append(request.head.path ?? "") }
    return try await meddle(request, Self.forward)
  }

  func stream(
    _ request: HTTPTransportRequest, _ receive: @escaping @Sendable (Data) -> Bool
  ) async throws(HTTPTransportError) -> HTTPResponse {
    try await openStream(streamCount.add(1, ordering: .relaxed).newValue, request, receive)
  }

  static func stream(
    _ request: HTTPTransportRequest, _ receive: @escaping @Sendable (Data) -> Bool
  ) async throws(HTTPTransportError) -> HTTPResponse {
    guard let transport = try? Fixture.transport.get() else { throw .invalidRequest("") }
    return try await transport.stream(request, receive)
  }

  static let forward: Send = { (request) throws(HTTPTransportError) in
    guard let transport = try? Fixture.transport.get() else { throw .invalidRequest("") }
    return try await transport.send(request)
  }
}

extension HTTPTransportRequest {
  /// Whether it is a transaction that writes.
  var writes: Bool {
    head.path == "/v3/kv/txn"
      && body.map { String(decoding: $0, as: UTF8.self).contains("request_put") } ?? false
  }
}
