import Synchronization

/// A TLS server on a free port of 127.0.0.1 that answers what a closure says, and keeps connections alive.
final class TestServer: Sendable {
  struct Request: Sendable {
    let method: String
    let target: String
    /// By lower-case name.
    let fields: [String: String]
    let body: String
    /// The number of the connection that it came on.
    let connection: Int
  }

  struct Reply: Sendable {
    var status = 200
    var fields: [(String, String)] = []
    var body: [UInt8] = []
  }

  private let server: RawServer
  private let log: Log
  var port: UInt16 { server.port }
  var requests: [Request] { log.requests.withLock { $0 } }

  private final class Log: Sendable {
    let requests = Mutex<[Request]>([])
  }

  init(
    _ files: TestCertificates.Files = TestCertificates.shared.good,
    _ answer: @escaping @Sendable (Request) -> Reply
  ) {
    let log = Log()
    self.log = log
    server = RawServer(files) { connection in
      while let text = connection.readRequest() {
        let request = parse(text, connection.number)
        log.requests.withLock { $0.append(request) }
        let reply = answer(request)
        var head = "HTTP/1.1 \(reply.status) Text\r\n"
        for (name, value) in reply.fields { head += "\(name): \(value)\r\n" }
        if request.method != "HEAD" { head += "Content-Length: \(reply.body.count)\r\n" }
        connection.write(Array("\(head)\r\n".utf8) + (request.method == "HEAD" ? [] : reply.body))
      }
    }
  }

  func stop() { server.stop() }
}

private func parse(_ text: String, _ connection: Int) -> TestServer.Request {
  let end = text.firstRange(of: "\r\n\r\n")
  let lines = text[..<(end?.lowerBound ?? text.endIndex)].split(separator: "\r\n")
  let words = lines[0].split(separator: " ")
  var fields: [String: String] = [:]
  for line in lines.dropFirst() {
    let parts = line.split(separator: ":", maxSplits: 1)
    fields[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
  }
  return .init(
    method: String(words[0]), target: String(words[1]), fields: fields,
    body: String(text[(end?.upperBound ?? text.endIndex)...]), connection: connection)
}
