import HTTPSupport

/// A lender at a socket of its own, whose responses a test writes.
package struct ScriptedLender: Sendable {
  package let directory: TemporaryDirectory
  package let server: RawServer

  package init(_ serve: @escaping @Sendable (RawConnection) -> Void) throws {
    directory = try TemporaryDirectory()
    server = try RawServer(at: directory.path + "/loan.sock", serve)
  }

  /// Responds to requests for tokens by the closure, to others with the terms.
  package init(
    terms: String = LentThings.terms(),
    token answer: @escaping @Sendable (_ query: [String: String]) -> (status: Int, body: String)
  ) throws {
    directory = try TemporaryDirectory()
    server = try RawServer(at: directory.path + "/loan.sock") { target in
      guard let query = Self.query(of: target) else { return (200, "", terms) }
      let (status, body) = answer(query)
      return (status, "Content-Type: application/json\r\n", body)
    }
  }

  /// As a borrower names it.
  package var address: String { "unix:" + server.path }

  /// The queries of the requests for tokens.
  package var tokenRequests: [[String: String]] {
    server.requests.compactMap { Self.query(of: $0.split(separator: " ")[1]) }
  }

  private static func query(of target: some StringProtocol) -> [String: String]? {
    let parts = target.split(separator: "?", maxSplits: 1)
    return parts.first == "/token" ? FormEncoding.decode(parts.dropFirst().joined().utf8) ?? [:] : nil
  }
}
