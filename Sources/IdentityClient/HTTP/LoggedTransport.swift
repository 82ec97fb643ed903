package import FoundationEssentials
package import HTTPSupport
package import HTTPTypes
package import Logging
import TokenCache

/// Logs the host, status, correlation ID and duration of each request.
package struct LoggedTransport: HTTPTransport {
  let transport: any HTTPTransport
  let log: ClientLog

  package func send(
    _ request: HTTPTransportRequest
  ) async throws(HTTPTransportError) -> HTTPTransportResponse {
    try await logging(request.head, \.head, await transport.send(request))
  }

  package func stream(
    _ request: HTTPTransportRequest, _ receive: @escaping @Sendable (Data) -> Bool
  ) async throws(HTTPTransportError) -> HTTPResponse {
    try await logging(request.head, \.self, await transport.stream(request, receive))
  }

  private func logging<Response>(
    _ request: HTTPRequest, _ head: (Response) -> HTTPResponse,
    _ send: @autoclosure () async throws(HTTPTransportError) -> Response
  ) async throws(HTTPTransportError) -> Response {
    let start = ContinuousClock.now
    func context(_ key: String, _ value: Logger.MetadataValue) -> Logger.Metadata {
      var context = [key: value, "host": host(request.authority ?? "")]
      context["time"] = "\(Int((ContinuousClock.now - start) / .milliseconds(1)))ms"
      context["correlation"] = HTTPField.Name("client-request-id").flatMap { request.headerFields[$0] }
        .map { .string($0) }
      return context
    }
    do throws(HTTPTransportError) {
      let response = try await send()
      log(.info, "The server responded.", context("status", "\(head(response).status.code)"))
      return response
    } catch {
      // The reason may be a proxy, or a file of certificates.
      let reason = context("reason", log.personal(error.description))
      log(
        .info, error == .cancelled ? "The request was cancelled." : "The server could not be reached.", reason
      )
      throw error
    }
  }

  /// Any other host may be an organization's own, and its name personal data.
  private func host(_ host: String) -> Logger.MetadataValue {
    let isShared =
      CloudInstances.known.contains(host) || KnownCloud.graphHosts.contains(host) || LoopbackHost(host) != nil
    return isShared ? "\(host)" : log.personal(host)
  }
}

extension LoggedTransport {
  /// Logs requests that no ``PublicClient`` sends, with personal data masked.
  package init(_ transport: any HTTPTransport, logger: Logger) {
    self.init(transport: transport, log: ClientLog(logger: logger, showsPersonalData: false))
  }
}
