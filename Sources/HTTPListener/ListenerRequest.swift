/// A request as the rules of a listener see it.
package struct ListenerRequest: Sendable {
  package var method: String
  /// The host of the target, which is the `Host` field's unless the target is a whole URL.
  package var targetHost: String
  /// The path, without the query.
  package var path: String
  package var query: String?
  /// The header fields by their names in lower case; a field that came twice has both values.
  package var fields: [String: String]
  package var body: [UInt8]
  package var bodyIsTooLarge: Bool

  package init(
    method: String, targetHost: String, path: String, query: String?, fields: [String: String],
    body: [UInt8], bodyIsTooLarge: Bool
  ) {
    self.method = method
    self.targetHost = targetHost
    self.path = path
    self.query = query
    self.fields = fields
    self.body = body
    self.bodyIsTooLarge = bodyIsTooLarge
  }

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
    guard let host = fields["host"]?.lowercased(),
      ["localhost", "127.0.0.1", "::1"].contains(targetHost.lowercased()),
      let name = ["localhost", "127.0.0.1", "[::1]"].first(where: host.hasPrefix)
    else { return false }
    let rest = host.dropFirst(name.count)
    guard let port else { return rest.isEmpty || rest.first == ":" && UInt16(rest.dropFirst()) != nil }
    return rest == ":\(port)" || rest.isEmpty && port == 80
  }
}
