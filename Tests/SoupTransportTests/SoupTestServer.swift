import CLibsoup
import Dispatch
import GLibSupport
import Glibc
import Synchronization

/// A real TLS server on libsoup, on a free port of 127.0.0.1.
final class SoupTestServer: @unchecked Sendable {
  struct Request: Sendable {
    let method: String
    let target: String
    /// By lower-case name.
    let fields: [String: String]
    let body: [UInt8]
    /// Tells connections apart.
    let clientPort: UInt16
  }

  struct Reply: Sendable {
    var status: UInt32 = 200
    var fields: [(String, String)] = []
    var body: [UInt8] = []
  }

  typealias Answer = @Sendable (Request) -> Reply

  private let thread = MainLoopThread(name: "test-server")
  private var server: UnsafeMutablePointer<SoupServer>?
  private let answer: Answer
  private let log = Mutex<[Request]>([])
  private(set) var port: UInt16 = 0

  var requests: [Request] { log.withLock { $0 } }

  init(_ files: TestCertificates.Files = TestCertificates.shared.good, _ answer: @escaping Answer) {
    self.answer = answer
    let ready = DispatchSemaphore(value: 0)
    thread.invoke { [self] in
      listen(files)
      ready.signal()
    }
    ready.wait()
  }

  /// Stops the server and closes its connections.
  func stop() {
    let done = DispatchSemaphore(value: 0)
    thread.invoke { [self] in
      soup_server_disconnect(server)
      g_object_unref(server)
      server = nil
      done.signal()
    }
    done.wait()
  }

  private func listen(_ files: TestCertificates.Files) {
    let object = g_object_new_with_properties(soup_server_get_type(), 0, nil, nil)
    let server = UnsafeMutableRawPointer(object!).assumingMemoryBound(to: SoupServer.self)
    self.server = server
    soup_server_set_tls_certificate(
      server, g_tls_certificate_new_from_files(files.certificate, files.key, nil))
    soup_server_add_handler(
      server, nil,
      { _, message, _, _, data in
        guard let message, let data else { return }
        Unmanaged<SoupTestServer>.fromOpaque(data).takeUnretainedValue().handle(message)
      }, Unmanaged.passUnretained(self).toOpaque(), nil)
    let options = SoupServerListenOptions(
      rawValue: SOUP_SERVER_LISTEN_HTTPS.rawValue | SOUP_SERVER_LISTEN_IPV4_ONLY.rawValue)
    soup_server_listen_local(server, 0, options, nil)
    let uris = soup_server_get_uris(server)
    port = UInt16(g_uri_get_port(OpaquePointer(uris!.pointee.data)))
    g_slist_free(uris)
  }

  private func handle(_ message: OpaquePointer) {
    let uri = soup_server_message_get_uri(message)
    let query = g_uri_get_query(uri).map { "?" + String(cString: $0) } ?? ""
    let body = soup_server_message_get_request_body(message)!
    let address = UnsafeMutableRawPointer(soup_server_message_get_remote_address(message)!)
    var fields: [String: String] = [:]
    var iterator = SoupMessageHeadersIter()
    soup_message_headers_iter_init(&iterator, soup_server_message_get_request_headers(message))
    var name: UnsafePointer<CChar>?
    var value: UnsafePointer<CChar>?
    while soup_message_headers_iter_next(&iterator, &name, &value) != 0 {
      fields[String(cString: name!).lowercased()] = String(cString: value!)
    }
    let request = Request(
      method: String(cString: soup_server_message_get_method(message)),
      target: String(cString: g_uri_get_path(uri)) + query,
      fields: fields,
      body: Array(UnsafeRawBufferPointer(start: body.pointee.data, count: Int(body.pointee.length))),
      clientPort: g_inet_socket_address_get_port(
        address.assumingMemoryBound(to: GInetSocketAddress.self)))
    log.withLock { $0.append(request) }
    let reply = answer(request)
    soup_server_message_set_status(message, reply.status, nil)
    for (name, value) in reply.fields {
      soup_message_headers_append(soup_server_message_get_response_headers(message), name, value)
    }
    guard !reply.body.isEmpty else { return }
    soup_message_body_append_bytes(
      soup_server_message_get_response_body(message), g_bytes_new(reply.body, gsize(reply.body.count)))
  }
}
