import CGLib
import HTTPSupport
import LibsoupOnDemand

/// A request as the rules of a listener see it.
package struct ListenerRequest: Sendable {
  package var method: String
  /// The host of the target, which is the `Host` field's unless the target is a whole URL.
  package var targetHost: String
  /// The path, without the query.
  package var path: String
  package var query: String?
  /// The header fields by their names in lower case; a field that came twice has both values.
  package var fields: [String: String] = [:]
  /// `nil` when it is larger than the listener's limit.
  package var body: [UInt8]?

  /// In bytes; what is more should be refused.
  package static let maximumHeaderSize = 16 << 10

  package var headerSize: Int {
    fields.reduce(path.utf8.count + (query?.utf8.count ?? 0)) {
      $0 + $1.key.utf8.count + $1.value.utf8.count + 4
    }
  }

  /// Whether it names this machine's loopback interface as the host, with this port unless that is `nil`. A page of the
  /// web whose name was made to resolve to 127.0.0.1 (DNS rebinding) shows by its `Host`.
  package func isForLoopback(port: UInt16?) -> Bool {
    guard LoopbackHost(targetHost)?.isListenedOn == true, let host = fields["host"].flatMap(LoopbackHost.init)
    else { return false }
    return host.isListenedOn && host.hasPort(port)
  }
}

extension ListenerRequest {
  init(_ message: OpaquePointer, path: String, body: [UInt8]?) {
    let uri = soup_server_message_get_uri(message)
    method = soup_server_message_get_method(message).map { String(cString: $0) } ?? ""
    targetHost = g_uri_get_host(uri).map { String(cString: $0) } ?? ""
    self.path = path
    query = g_uri_get_query(uri).map { String(cString: $0) }
    self.body = body
    var iterator = SoupMessageHeadersIter()
    soup_message_headers_iter_init(&iterator, soup_server_message_get_request_headers(message))
    var name: UnsafePointer<CChar>?
    var value: UnsafePointer<CChar>?
    while soup_message_headers_iter_next(&iterator, &name, &value) != 0 {
      guard let name, let value else { continue }
      let (key, text) = (String(cString: name).lowercased(), String(cString: value))
      fields[key] = fields[key].map { "\($0), \(text)" } ?? text
    }
  }

  /// What `Accept-Language` names, the preferred ones first, such as `pt-BR`.
  package var languages: [String] {
    guard let accepted = fields["accept-language"] else { return [] }
    // Without a place for what is not acceptable, libsoup before 3.6.6 leaks it.
    var unacceptable: UnsafeMutablePointer<GSList>?
    let list = soup_header_parse_quality_list(accepted, &unacceptable)
    defer {
      soup_header_free_list(list)
      soup_header_free_list(unacceptable)
    }
    var languages: [String] = []
    var next = list
    while let item = next {
      if let language = item.pointee.data {
        languages.append(String(cString: language.assumingMemoryBound(to: CChar.self)))
      }
      next = item.pointee.next
    }
    return languages
  }
}
