import HTTPListener
import TestSupport

@Suite(.timeLimit(.minutes(20)))
struct HTTPListenerTests {
  private let sockets: LoopbackSockets
  private let limits = HTTPListener.Limits(
    connections: 16, requestTime: .seconds(600), answerTime: .seconds(600), maximumBodySize: 1000)

  init() throws {
    try HTTPListener.loadLibrary()
    sockets = try LoopbackSockets(port: 0)
  }

  /// libsoup silently releases a request when its server ends; a later response would use what is not there
  /// any more.
  @Test(.fault("listener ends")) func `A request that ends with its listener is told`() async throws {
    let answer = ListenerResponse(status: 200, contentType: "text/plain", body: Array("hello".utf8))
    let client = try #require(RawClient(sockets.port))
    client.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    let listener = HTTPListener(sockets.sockets, limits: limits, fields: [], thread: "test")
    let isOver = await withCheckedContinuation { continuation in
      listener.start { [weak listener] exchange in
        // When libsoup waits for the answer.
        listener?.setTimer(.zero) {
          var isOver = false
          exchange.reply(answer) { isOver = true }
          listener?.close()
          continuation.resume(returning: isOver)
        }
      }
    }
    #expect(isOver)
    withExtendedLifetime((listener, client)) {}
  }

  /// Whose a connection was cannot be found out when he has closed his end, so that he could be anybody.
  @Test(.fault("gone early")) func `A closed connection is never handled`() async throws {
    for name in ["127.0.0.1", "::1"] {
      // Of a process that has ended: a child that another test is starting has this process's for a moment.
      let script = "exec 3<>/dev/tcp/$0/$1; printf 'GET /gone HTTP/1.1\r\nHost: localhost\r\n\r\n' >&3"
      _ = try Child.output("bash", ["-c", script, name, "\(sockets.port)"])
    }
    let clients = try ["127.0.0.1", "::1"].map { try #require(RawClient(sockets.port, host: $0)) }
    for client in clients { client.write("GET /here HTTP/1.1\r\nHost: localhost\r\n\r\n") }
    let paths = Mutex<[String]>([])
    let listener = HTTPListener(sockets.sockets, limits: limits, fields: [], thread: "test")
    listener.start { exchange in
      paths.withLock { $0.append(exchange.request.path) }
      exchange.reply(ListenerResponse(status: 200, contentType: "text/plain", body: []))
    }
    for client in clients { #expect(httpStatus(of: await client.readToEnd()) == 200) }
    #expect(paths.withLock(\.self) == ["/here", "/here"])
    listener.close()
  }
}
