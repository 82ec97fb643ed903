/// A request as the rules of ``RedirectRules`` see it.
struct LoopbackRequest: Sendable {
  var method: String
  /// The host of the target, which is the `Host` field's unless the target is a whole URL.
  var targetHost: String
  /// The path, without the query.
  var path: String
  var query: String?
  /// The header fields by their names in lower case; a field that came twice has both values.
  var fields: [String: String]
  var body: [UInt8]
  var bodyIsTooLarge: Bool

  static let maximumBodySize = 64 << 10
  static let maximumHeaderSize = 16 << 10

  var headerSize: Int {
    fields.reduce(path.utf8.count + (query?.utf8.count ?? 0)) {
      $0 + $1.key.utf8.count + $1.value.utf8.count + 4
    }
  }
}
