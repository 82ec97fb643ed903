import TestSupport

extension RawServer {
  /// A server at a port, over TLS unless there is no certificate.
  convenience init(
    _ files: TestCertificates.Files? = TestCertificates.shared.good, offersHTTP2: Bool = false,
    _ serve: @escaping @Sendable (RawConnection) -> Void
  ) throws {
    try self.init(certificate: files.map { ($0.certificate, $0.key) }, offersHTTP2: offersHTTP2, serve)
  }
}

/// A TLS server on a free port of 127.0.0.1 whose responses a closure makes, with kept connections.
struct TestServer: Sendable {
  struct Request: Sendable {
    let method: String
    let target: String
    /// By lower-case name.
    let fields: [String: String]
    let body: String
    /// The number of its connection.
    let connection: Int

    init(_ text: String, _ connection: Int) {
      let end = text.firstRange(of: "\r\n\r\n")
      let lines = text[..<(end?.lowerBound ?? text.endIndex)].split(separator: "\r\n")
      let words = lines[0].split(separator: " ")
      let pairs = lines.dropFirst().map { line in
        let parts = line.split(separator: ":", maxSplits: 1)
        return (parts[0].lowercased(), String(parts[1].drop { $0 == " " }))
      }
      (method, target) = (String(words[0]), String(words[1]))
      fields = Dictionary(pairs) { $1 }
      body = String(text[(end?.upperBound ?? text.endIndex)...])
      self.connection = connection
    }
  }

  struct Reply: Sendable {
    var status = 200
    var fields: [(String, String)] = []
    var body: [UInt8] = []
  }

  private let server: RawServer
  var port: UInt16 { server.port }
  var requests: [Request] { server.numberedRequests.map { Request($0.text, $0.connection) } }

  init(
    _ files: TestCertificates.Files = TestCertificates.shared.good,
    _ answer: @escaping @Sendable (Request) -> Reply
  ) throws {
    server = try RawServer(files) { connection in
      while let text = connection.readRequest() {
        let request = Request(text, connection.number)
        let reply = answer(request)
        var head = "HTTP/1.1 \(reply.status) Text\r\n"
        for (name, value) in reply.fields { head += "\(name): \(value)\r\n" }
        if request.method != "HEAD" { head += "Content-Length: \(reply.body.count)\r\n" }
        connection.write(Array("\(head)\r\n".utf8) + (request.method == "HEAD" ? [] : reply.body))
      }
    }
  }
}
