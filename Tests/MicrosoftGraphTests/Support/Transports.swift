import HTTPSupport
import Synchronization
import TestSupport

/// Records the requests of another transport.
final class RecordingTransport: HTTPTransport {
  private let base: any HTTPTransport
  private let list = Mutex<[SeenRequest]>([])

  init(_ base: any HTTPTransport) { self.base = base }

  var requests: [SeenRequest] { list.withLock { $0 } }

  func send(_ request: HTTPTransportRequest) async throws(HTTPTransportError) -> HTTPTransportResponse {
    list.withLock { $0.append(SeenRequest(request)) }
    return try await base.send(request)
  }
}
