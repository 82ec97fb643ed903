import CGLib
import FoundationEssentials
import GLibSupport
import HTTPSupport
import HTTPTypes
import LibsoupOnDemand

/// A `SoupMessage`: a request, and later the head of its response.
///
/// `@unchecked Sendable`: after `init`, used on the session's thread alone.
final class SoupMessageReference: @unchecked Sendable {
  let pointer: OpaquePointer
  /// The host and the port, if one was given, or the socket; for error texts.
  let host: String
  let isIdempotent: Bool
  let route: Route

  init(_ request: HTTPTransportRequest, on route: Route) throws(HTTPTransportError) {
    let head = request.head
    guard head.scheme?.lowercased() == route.scheme else {
      throw .invalidRequest("Invalid scheme \(head.scheme ?? "(none)"): expected \(route.scheme).")
    }
    guard let authority = head.authority, isWritable(authority, except: "/?#@\\"),
      let path = head.path, path.hasPrefix("/"), isWritable(path, except: "#"), head.method != .connect
    else { throw .invalidRequest("Invalid URL: expected a host without a user name, and an escaped path.") }
    let own = ["host", "content-length", "transfer-encoding", "connection"]
    if let field = head.headerFields.first(where: { own.contains($0.name.canonicalName) }) {
      throw .invalidRequest("The header field \(field.name) is set by the transport.")
    }
    let flags = GUriFlags(
      rawValue: FLAG_G_URI_FLAGS_HAS_PASSWORD.rawValue | FLAG_G_URI_FLAGS_ENCODED_PATH.rawValue
        | FLAG_G_URI_FLAGS_ENCODED_QUERY.rawValue | FLAG_G_URI_FLAGS_SCHEME_NORMALIZE.rawValue)
    guard let uri = g_uri_parse("\(route.scheme)://\(authority)\(path)", flags, nil) else {
      throw .invalidRequest("Invalid host or path.")
    }
    defer { g_uri_unref(uri) }
    guard g_uri_get_host(uri).map({ $0.pointee != 0 }) == true,
      let message = soup_message_new_from_uri(head.method.rawValue, uri)
    else { throw .invalidRequest("Invalid host.") }
    pointer = message
    self.route = route
    host = route.unixSocket?.path ?? authority
    isIdempotent = head.method.isIdempotent || request.isRepeatable
    soup_message_add_flags(message, SOUP_MESSAGE_NO_REDIRECT)
    if isIdempotent { soup_message_add_flags(message, SOUP_MESSAGE_IDEMPOTENT) }
    soup_message_add_flags(message, SOUP_MESSAGE_COLLECT_METRICS)
    // Challenges are not answered: the caller gets the 401. With this feature a session reads a 401 to its end by itself,
    // which it does not find if the chunks are decoded here.
    soup_message_disable_feature(message, soup_auth_manager_get_type())
    setBody(request.body)
    let fields = soup_message_get_request_headers(message)
    for field in head.headerFields { soup_message_headers_append(fields, field.name.rawName, field.value) }
    if head.headerFields[.acceptEncoding] == nil {
      soup_message_headers_append(fields, "Accept-Encoding", "gzip")
    }
  }

  deinit { g_object_unref(UnsafeMutableRawPointer(pointer)) }

  /// Sets the body, again before each repetition: libsoup has consumed the first one.
  func setBody(_ body: Data?) {
    guard let body else { return }
    let bytes = body.withUnsafeBytes { g_bytes_new($0.baseAddress, gsize($0.count)) }
    defer { g_bytes_unref(bytes) }
    soup_message_set_request_body_from_bytes(pointer, nil, bytes)
  }
}

extension SoupMessageReference {
  /// False for the response of a proxy that refused the tunnel: no server has sent a certificate.
  var cameFromServer: Bool { route.isPlaintext || cameOverTLS }

  /// Whether the server has sent a certificate.
  var cameOverTLS: Bool { soup_message_get_tls_peer_certificate(pointer) != nil }

  /// Whether the header exceeds libsoup's limit of 64 KiB.
  var headerIsTooLarge: Bool {
    soup_message_get_metrics(pointer).map(soup_message_metrics_get_response_header_bytes_received) ?? 0 > 1
      << 16
  }

  var status: Int { Int(soup_message_get_status(pointer)) }

  var responseHead: HTTPResponse {
    var fields = HTTPFields()
    var iterator = SoupMessageHeadersIter()
    soup_message_headers_iter_init(&iterator, soup_message_get_response_headers(pointer))
    var name: UnsafePointer<CChar>?
    var value: UnsafePointer<CChar>?
    while soup_message_headers_iter_next(&iterator, &name, &value) != 0 {
      if let name, let value, let fieldName = HTTPField.Name(String(cString: name)) {
        fields.append(HTTPField(name: fieldName, value: String(cString: value)))
      }
    }
    return HTTPResponse(status: .init(code: min(max(status, 100), 999)), headerFields: fields)
  }

  /// The body's compression by the header.
  var contentEncoding: ContentEncoding {
    let field = soup_message_headers_get_list(soup_message_get_response_headers(pointer), "Content-Encoding")
    return ContentEncoding(field.map { String(cString: $0) })
  }

  /// The body's length by the header. libsoup does not check it when the server closes the connection.
  var announcedBodySize: Int? {
    hasBody ? Int(soup_message_headers_get_content_length(soup_message_get_response_headers(pointer))) : nil
  }

  /// Makes libsoup return the body with its chunk sizes; to be called while the status is set. The connection is not reused
  /// afterwards.
  ///
  /// - Returns: Whether the body is chunked.
  func takeOverChunks() -> Bool {
    let fields = soup_message_get_response_headers(pointer)
    guard hasBody, soup_message_get_http_version(pointer) != SOUP_HTTP_2_0,
      soup_message_headers_get_encoding(fields) == SOUP_ENCODING_CHUNKED
    else { return false }
    soup_message_headers_set_encoding(fields, SOUP_ENCODING_EOF)
    return true
  }

  /// Whether a response with this status, to a request of this method, has a body (RFC 9112 section 6.3).
  private var hasBody: Bool {
    status >= 200 && status != 204 && status != 304
      && soup_message_get_method(pointer).map { String(cString: $0) } != "HEAD"
  }
}

/// Whether the text has only visible ASCII characters, without those that would end this part of a URL.
private func isWritable(_ text: String, except reserved: String) -> Bool {
  !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7e).contains($0) && !reserved.utf8.contains($0) }
}

extension HTTPRequest.Method {
  /// RFC 9110 section 9.2.2.
  fileprivate var isIdempotent: Bool {
    [.get, .head, .options, .put, .delete, .trace].contains(self)
  }
}
