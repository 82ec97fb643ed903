/// Where tokens come from.
public enum TokenOrigin: Sendable, Hashable, Codable, CustomStringConvertible {
  /// The store of this machine.
  case store
  /// A lender at a Unix socket, whose tokens are not stored here.
  case lender(socket: String)

  /// - Throws: ``ConfigurationError``.
  public init(_ text: String) throws(ConfigurationError) {
    if text == "off" {
      self = .store
    } else if text.hasPrefix("unix:"), text != "unix:" {
      self = .lender(socket: String(text.dropFirst("unix:".count)))
    } else {
      let isPort = text.hasPrefix("http:") || text.hasPrefix("https:")
      throw ConfigurationError(
        value: "expected unix:PATH, the socket of \"llavero lend\", or off"
          + (isPort ? "; a lender on a port is for the Azure SDKs, which find it by IDENTITY_ENDPOINT" : ""))
    }
  }

  public var description: String { socket.map { "unix:" + $0 } ?? "off" }

  /// The path of the lender's socket.
  public var socket: String? { if case .lender(let path) = self { path } else { nil } }
}
