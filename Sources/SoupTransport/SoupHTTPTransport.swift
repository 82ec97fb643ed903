import CGLib
public import FoundationEssentials
import GLibSupport
public import HTTPSupport
public import HTTPTypes
import LibsoupOnDemand
import Synchronization

/// An `HTTPTransport` on libsoup 3.
///
/// Connections are kept and reused; a POST or PATCH that is not `HTTPTransportRequest.isRepeatable` always gets a new
/// one, so that a connection which the server has closed meanwhile costs no request that must not be sent twice.
public final class SoupHTTPTransport: HTTPTransport {
  private let route: Route
  private let allowsLoopbackHTTP: Bool
  /// Begun by the first request. It loads GIO's modules, and a program that ends meanwhile would crash: the libraries
  /// that `exit` has taken down are set up once more by `dlopen`. A program that sends nothing has no such thread.
  private let thread = Mutex<SoupSessionThread?>(nil)
  /// The same for what goes to loopback without TLS.
  private let loopbackThread = Mutex<SoupSessionThread?>(nil)

  /// - Parameters:
  ///   - caBundle: A file of PEM certificates to trust instead of the system's. Without it, the file that
  ///     `LLAVERO_CA_BUNDLE` names, else the one that `SSL_CERT_FILE` names, else the system's store.
  ///   - environment: The process's environment. `https_proxy`, `all_proxy` and `no_proxy`, in lower or upper
  ///     case, have the meaning they have for curl; without them the desktop's settings count.
  ///   - allowsLoopbackHTTP: Whether plain http is spoken to this machine's own loopback addresses, past every proxy.
  /// - Throws: `HTTPTransportError.invalidConfiguration(_:)` if the CA bundle cannot be read or holds no
  ///   certificate, or if the proxy's address is invalid.
  public init(
    caBundle: String? = nil, environment: [String: String], allowsLoopbackHTTP: Bool = false
  ) throws(HTTPTransportError) {
    self.allowsLoopbackHTTP = allowsLoopbackHTTP
    route = .hosts(
      trustAnchors: try loadTrustAnchors(caBundle: caBundle, environment: environment),
      try ProxySettings(environment: environment))
  }

  /// Makes a transport whose requests all go to one Unix socket, in HTTP without TLS: who listens there is a matter of
  /// the file's owner and mode. Addresses have the scheme `http`; their host is no more than what the header says.
  ///
  /// - Parameter path: The socket's file. It need not be there yet.
  /// - Throws: ``HTTPTransportError/invalidConfiguration(_:)`` for a path that is longer than the kernel takes.
  public init(unixSocket path: String) throws(HTTPTransportError) {
    allowsLoopbackHTTP = false
    route = .socket(try UnixSocket(path: path))
  }

  public func send(
    _ request: HTTPTransportRequest
  ) async throws(HTTPTransportError) -> HTTPTransportResponse {
    try await exchange(request, handingPartsTo: nil)
  }

  public func stream(
    _ request: HTTPTransportRequest, _ receive: @escaping @Sendable (Data) -> Bool
  ) async throws(HTTPTransportError) -> HTTPResponse {
    try await exchange(request, handingPartsTo: receive).head
  }

  private func exchange(
    _ request: HTTPTransportRequest, handingPartsTo receive: (@Sendable (Data) -> Bool)?
  ) async throws(HTTPTransportError) -> HTTPTransportResponse {
    if let problem = llavero_libsoup_problem() { throw .invalidConfiguration(String(cString: problem)) }
    let isToLoopback = allowsLoopbackHTTP && request.head.isPlaintextLoopback
    let message = try SoupMessageReference(request, on: isToLoopback ? .loopback : route)
    let call = ExchangeCall(timeout: request.timeout, onCancel: .cancelled, onTimeout: .timedOut)
    let exchange = Exchange(message, request, call, handingPartsTo: receive)
    let thread =
      isToLoopback ? sessionThread(loopbackThread, .loopback) : sessionThread(self.thread, route)
    // The session's end ends its exchanges.
    defer { withExtendedLifetime(thread) {} }
    do throws(HTTPTransportError) {
      return try await call.run(abandon: { thread.run { _ in exchange.finish(.failure(.cancelled)) } }) { _ in
        thread.run { exchange.start(in: $0) }
      }
    } catch {
      if error == .timedOut { replace(thread) }
      throw error
    }
  }

  /// Gives the next request a thread of its own. A server that floods its HTTP/2 connection keeps libsoup reading, and
  /// this one from its loop.
  private func replace(_ held: SoupSessionThread) {
    thread.withLock { if $0 === held { $0 = nil } }
    loopbackThread.withLock { if $0 === held { $0 = nil } }
  }

  private func sessionThread(
    _ thread: borrowing Mutex<SoupSessionThread?>, _ route: Route
  ) -> SoupSessionThread {
    thread.withLock {
      let thread = $0 ?? SoupSessionThread(route)
      $0 = thread
      return thread
    }
  }
}
