import CGLib
public import FoundationEssentials
import GLibSupport
public import HTTPSupport
public import HTTPTypes
import LibsoupOnDemand
import Synchronization

/// An `HTTPTransport` on libsoup 3.
///
/// Connections are kept and reused. A POST, PATCH or DELETE that is not `HTTPTransportRequest.isRepeatable` gets a new one,
/// so that a connection which the server has closed never loses a request that must not be sent twice. They speak HTTP/1.1:
/// over HTTP/2, libsoup keeps all that a server sends, without a limit, as long as there is something to read, and does nothing
/// else meanwhile.
///
/// For example:
///
/// ```swift
/// let transport = try SoupHTTPTransport(environment: environment)
/// let client = PublicClient(
///   configuration: configuration, cache: cache, transport: transport)
/// ```
public final class SoupHTTPTransport: HTTPTransport {
  private let route: Route
  private let allowsLoopbackHTTP: Bool
  /// The threads of each kind of request, started by the first one. They load GIO's modules, and a program that exits meanwhile
  /// would crash: `dlopen` initializes libraries again that `exit` has finalized. A program that sends nothing has no such thread.
  private let threads = Mutex<[RequestKind: SoupSessionThread]>([:])

  private struct RequestKind: Hashable {
    /// Whether it goes to loopback without TLS.
    var isToLoopback: Bool
    /// Whether it takes a connection for long, which must not keep others waiting.
    var isStream: Bool
  }

  /// - Parameters:
  ///   - caBundle: A file of PEM certificates to trust instead of the system's. Without it, the file in
  ///     `LLAVERO_CA_BUNDLE`, else that in `SSL_CERT_FILE`, else the system's store.
  ///   - proxy: The URL of the proxy in place of the environment's, or `off` for none.
  ///   - environment: The process's environment. `https_proxy`, `all_proxy` and `no_proxy`, in lower or upper
  ///     case, have the same meaning as for curl; without them the desktop's settings are used.
  ///   - allowsLoopbackHTTP: Whether requests to loopback addresses may use http, bypassing proxies.
  ///   - caBundleVariable: What an error says the certificates to trust are named by.
  /// - Throws: `HTTPTransportError.invalidConfiguration(_:)` if the CA bundle cannot be read or holds no
  ///   certificate, or if the proxy's URL is invalid.
  public init(
    caBundle: String? = nil, proxy: String? = nil, environment: [String: String],
    allowsLoopbackHTTP: Bool = false, caBundleVariable: String = "LLAVERO_CA_BUNDLE"
  ) throws(HTTPTransportError) {
    self.allowsLoopbackHTTP = allowsLoopbackHTTP
    route = .hosts(
      trustAnchors: try loadTrustAnchors(caBundle: caBundle, environment: environment),
      try ProxySettings(proxy, environment: environment), caBundleVariable: caBundleVariable)
  }

  /// Makes a transport whose requests all go to one Unix socket, over HTTP without TLS: the file's owner and mode
  /// determine the listener. URLs have the scheme `http`; their host is used in the header only.
  ///
  /// - Parameter path: The socket's file. It need not exist yet.
  /// - Throws: ``HTTPTransportError/invalidConfiguration(_:)`` for a path that is longer than the kernel allows.
  public init(unixSocket path: String) throws(HTTPTransportError) {
    allowsLoopbackHTTP = false
    route = .socket(try UnixSocket(path: path))
  }

  public func send(
    _ request: HTTPTransportRequest
  ) async throws(HTTPTransportError) -> HTTPTransportResponse {
    try await exchange(request, deliveringTo: nil)
  }

  public func stream(
    _ request: HTTPTransportRequest, _ receive: @escaping @Sendable (Data) -> Bool
  ) async throws(HTTPTransportError) -> HTTPResponse {
    try await exchange(request, deliveringTo: receive).head
  }

  private func exchange(
    _ request: HTTPTransportRequest, deliveringTo receive: (@Sendable (Data) -> Bool)?
  ) async throws(HTTPTransportError) -> HTTPTransportResponse {
    if let problem = llavero_libsoup_problem() { throw .invalidConfiguration(String(cString: problem)) }
    let isToLoopback = allowsLoopbackHTTP && request.head.isPlaintextLoopback
    let route = isToLoopback ? .loopback : route
    let deadline = ContinuousClock.now + request.timeout
    let exchange = try Exchange(request, on: route, deliveringTo: receive)
    let kind = RequestKind(isToLoopback: isToLoopback, isStream: receive != nil)
    let thread: SoupSessionThread? = threads.withLock { threads in
      if let thread = threads[kind] { return thread }
      // GLib ends the process where it cannot make the thread's loop.
      guard canOpen(16) else { return nil }
      let thread = SoupSessionThread(route, connectionsPerHost: kind.isStream ? 1024 : 16)
      threads[kind] = thread
      return thread
    }
    guard let thread else { throw .cannotConnect("Too many open files.") }
    // The end of the session ends its exchanges.
    defer { withExtendedLifetime(thread) {} }
    do throws(HTTPTransportError) {
      return try await exchange.response(on: thread)
    } catch {
      guard case .connectionLost = error, exchange.mayUseAnother else { throw error }
      // libsoup repeats idempotent methods alone, and none after an end without TLS's close_notify.
      var request = request
      request.timeout = deadline - .now
      return try await Exchange(request, on: route, needsNewConnection: true, deliveringTo: receive)
        .response(on: thread)
    }
  }
}
