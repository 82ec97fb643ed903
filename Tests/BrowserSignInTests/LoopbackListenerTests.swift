import BrowserSignIn
import GLibSupport
import HTTPListener
import TestSupport

private func makeListener(
  _ mode: ResponseMode = .formPost, path: String = "/", port: UInt16 = 0
) throws -> LoopbackListener {
  try LoopbackListener(port: port, path: path, mode: mode) { $0["state"] == "right" }
}

private let answerForm = form("code=abc%2B1&state=right")

@Suite(.timeLimit(.minutes(20)))
struct LoopbackListenerTests {
  private let listener: LoopbackListener

  init() throws { listener = try makeListener() }

  @Test(.conformance(1), arguments: ["127.0.0.1", "::1"], ["localhost", "LocalHost", "127.0.0.1", "[::1]"])
  func `The form that was expected is the answer`(_ address: String, _ name: String) async throws {
    async let response = listener.response(timeout: .seconds(200))
    let answer = await send(
      form("code=a%2Bb+c&state=right&empty=", host: "\(name):{port}"), to: listener.port, host: address)
    #expect(httpStatus(of: answer) == 200)
    #expect(answer.contains("return to the application"))
    #expect(!answer.contains("a+b c"))
    #expect(try await response == ["code": "a+b c", "state": "right", "empty": ""])
  }

  @Test func `Answer that came before it was asked for is kept`() async throws {
    let answer = "code=abc%2B1&state=right&x="
    let largest = form(answer + String(repeating: "x", count: (64 << 10) - answer.utf8.count))
    #expect(httpStatus(of: await send(largest, to: listener.port)) == 200)
    #expect(try await listener.response(timeout: .seconds(200))["code"] == "abc+1")
    #expect(try await listener.response(timeout: .zero)["code"] == "abc+1")
  }

  @Test(.conformance(5, 6)) func `A wrong or missing state is refused, and the wait goes on`() async throws {
    async let response = listener.response(timeout: .seconds(200))
    let refused = [
      "code=evil&state=wrong", "code=evil", "error=access_denied&state=wrong", "error=access_denied",
      "state=",
    ]
    for body in refused {
      let answer = await send(form(body), to: listener.port)
      #expect(httpStatus(of: answer) == 400)
      #expect(!answer.contains("evil"))
    }
    _ = await send(answerForm, to: listener.port)
    #expect(try await response["code"] == "abc+1")
  }

  @Test func `Refused answers are counted in the timeout`() async throws {
    for _ in 0..<3 { _ = await send(form("code=evil&state=wrong"), to: listener.port) }
    let error = await expectError(.timedOut) { try await listener.response(timeout: .milliseconds(50)) }
    #expect(error?.message.contains("; 3 responses of another sign-in") == true)
  }

  @Test func `Only one answer wins`() async throws {
    let answers = try await atOnce(0..<12) { number in
      httpStatus(of: await send(form("code=\(number)&state=right"), to: listener.port))
    }
    #expect(answers.count { $0 == 200 } == 1)
    #expect(answers.count { $0 == 410 } == 11)
    _ = try await listener.response(timeout: .seconds(200))
    let late = await send(answerForm, to: listener.port)
    #expect(httpStatus(of: late) == 410)
    #expect(late.contains("sign-in has ended"))
  }

  @Test(.conformance(12, 17)) func `An error is an answer, and the page escapes its text`() async throws {
    let answer = await send(
      form("error=access_denied&error_description=%3Cscript%3E%26%22'%1b[31m&state=right"), to: listener.port)
    #expect(httpStatus(of: answer) == 200)
    #expect(answer.contains("access_denied: &lt;script&gt;&amp;&quot;&#39;[31m"))
    #expect(!answer.contains("<script") && !answer.contains("\u{1b}"))
    #expect(try await listener.response(timeout: .seconds(200))["error"] == "access_denied")
  }

  private static func launch(_ listener: LoopbackListener) -> String {
    String(
      listener.launchAddress(of: "https://login.test/page?state=right").dropFirst(
        "http://localhost:\(listener.port)".count))
  }

  @Test(.conformance(72), .fault("page opened"), arguments: [ResponseMode.formPost, .query])
  func `The browser is redirected to the page once`(_ mode: ResponseMode) async throws {
    let listener = try makeListener(mode)
    let path = Self.launch(listener)
    // What cannot be the browser gets nothing, and spends nothing.
    for request in [
      get(path, method: "HEAD"), get(path, method: "POST"), get(path, host: "evil.test"),
      get(path, fields: "Sec-Fetch-Mode: cors\n"), get(path + "x"), get("/"),
    ] {
      #expect(!(await send(request, to: listener.port)).contains("login.test"))
    }
    let answer = await send(get(path), to: listener.port)
    #expect(httpStatus(of: answer) == 303)
    #expect(answer.contains("\r\nLocation: https://login.test/page?state=right\r\n"))
    #expect(answer.contains("\r\nCache-Control: no-store\r\n"))
    #expect(answer.contains("\r\nReferrer-Policy: no-referrer\r\n"))
    let form = mode == .formPost ? answerForm : get("/?code=abc%2B1&state=right")
    _ = await send(form, to: listener.port)
    #expect(try await listener.response(timeout: .seconds(200))["code"] == "abc+1")
  }

  @Test(.conformance(72), .fault("page opened"), arguments: [false, true])
  func `A second opening of the page ends the sign-in`(_ isLate: Bool) async throws {
    let path = Self.launch(listener)
    let response = Task { try await listener.response(timeout: .seconds(200)) }
    let first = await send(get(path), to: listener.port)
    try #require(httpStatus(of: first) == 303)
    let second = await send(get(path), to: listener.port)
    #expect(httpStatus(of: second) == 410)
    #expect(!second.contains("login.test"))
    #expect(httpStatus(of: await send(answerForm, to: listener.port)) == 410)
    if isLate {
      let error = await expectError(.invalidState) {
        try await listener.response(timeout: .seconds(200))
      }
      #expect(error?.message.contains("opened twice") == true)
    }
    let error = await expectError(.invalidState) { try await response.value }
    #expect(error?.message.contains("opened twice") == true)
  }

  @Test(
    .conformance(72), .fault("opened first"),
    .enabled(if: OtherUser.command != nil, "no other user"),
    arguments: [ResponseMode.formPost, .query], ["127.0.0.1", "[::1]"])
  func `Another user gets, spends and ends nothing`(_ mode: ResponseMode, _ host: String) async throws {
    let listener = try makeListener(mode)
    let (path, address) = (Self.launch(listener), "http://\(host):\(listener.port)")
    let otherUser = try #require(OtherUser.command)
    let evil = (mode == .query ? ["-G"] : []) + ["--data", "code=evil&state=right", address]
    func tryEverything() async throws {
      for request in [[address + path], [address + path], evil] {
        let result = try await Child.runApart(
          otherUser[0],
          otherUser.dropFirst() + ["curl", "-q", "-sS", "--noproxy", "*", "-w", "\n%{http_code}"] + request)
        #expect(result.standardOutput.hasSuffix("\n403"), "\(result)")
      }
    }
    try await tryEverything()
    #expect(httpStatus(of: await send(get(path), to: listener.port)) == 303)
    try await tryEverything()
    _ = await send(
      mode == .formPost ? answerForm : get("/?code=abc%2B1&state=right"), to: listener.port)
    #expect(try await listener.response(timeout: .seconds(200))["code"] == "abc+1")
  }

  private static let body = "code=1&state=right"

  static let refusals: [(Named<String>, status: Int)] = [
    (Named("a GET", get("/?\(body)")), 405),
    (Named("a HEAD", get(method: "HEAD")), 405),
    (Named("a preflight", get(method: "OPTIONS")), 405),
    (Named("a PUT", form(body).replacing("POST", with: "PUT")), 405),
    (Named("the favicon", get("/favicon.ico")), 404),
    (Named("another path", form(body, path: "/other")), 404),
    (Named("a path that begins the same", form(body, path: "//")), 404),
    (Named("another host", form(body, host: "evil.example:{port}")), 400),
    (Named("another port", form(body, host: "localhost:1")), 400),
    (Named("no port", form(body, host: "localhost")), 400),
    (Named("a host that begins the same", form(body, host: "localhost.evil.example:{port}")), 400),
    (Named("a host as a user's name", form(body, host: "localhost:{port}@evil.example:{port}")), 400),
    (Named("two hosts", form(body, fields: "Host: localhost:{port}\n")), 400),
    (Named("an empty host", form(body, host: "")), 400),
    (
      Named(
        "HTTP/1.0 without a host",
        form(body).replacing("Host: localhost:{port}\n", with: "")
          .replacing("HTTP/1.1", with: "HTTP/1.0")), 400
    ),
    (Named("no host", form(body).replacing("Host: localhost:{port}\n", with: "")), 400),
    (Named("an absolute target of another host", form(body, path: "http://evil.example/")), 400),
    (Named("a script's request", form(body, fields: "Sec-Fetch-Mode: cors\n")), 403),
    (Named("a script's opaque request", form(body, fields: "Sec-Fetch-Mode: no-cors\n")), 403),
    (Named("JSON", form(body, type: "application/json")), 415),
    (Named("plain text", form(body, type: "text/plain")), 415),
    (Named("another type that begins the same", form(body, type: "application/x-www-form-urlencodedx")), 415),
    (
      Named(
        "a large body in chunks",
        "POST / HTTP/1.1\nHost: localhost:{port}\nContent-Type: application/x-www-form-urlencoded\n"
          + "Transfer-Encoding: chunked\n\n10001\n" + String(repeating: "x", count: 0x10001) + "\n0\n\n"), 413
    ),
    (Named("a parameter twice", form("code=1&state=right&code=2")), 400),
    (Named("the state twice", form("code=1&state=right&state=right")), 400),
    (Named("a bad escape", form("code=%4&state=right")), 400),
    (Named("bytes that are no UTF-8", form("code=%ff&state=right")), 400),
    (Named("a parameter without a name", form("=1&code=1&state=right")), 400),
    (Named("no parameters", form("")), 400),
    (Named("a large body", form(body + "&x=" + String(repeating: "x", count: 64 << 10))), 413),
    (
      Named("a large header", form(body, fields: "X: " + String(repeating: "x", count: 16 << 10) + "\n")), 431
    ),
    (Named("a long path", form(body, path: "/" + String(repeating: "x", count: 10 << 10))), 404),
  ]

  @Test(.conformance(15, 16), arguments: refusals)
  func `Any other request is refused, and the wait goes on`(
    _ request: Named<String>, status: Int
  ) async throws {
    async let response = listener.response(timeout: .seconds(200))
    let answer = await send(request.value, to: listener.port)
    #expect(httpStatus(of: answer) == status)
    expectSafeFields(answer)
    #expect(httpStatus(of: await send(answerForm, to: listener.port)) == 200)
    #expect(try await response["code"] == "abc+1")
  }

  @Test(arguments: [(0, 200), (1, 431)])
  func `A header has 16 KiB at most`(_ excess: Int, status: Int) async throws {
    let request = form(Self.body, fields: "X: \n").replacing("{port}", with: "\(listener.port)")
    // The path counts, too.
    let rest = "POST  HTTP/1.1\r\n\r\n\(Self.body)"
    let size = request.replacing("\n", with: "\r\n").utf8.count - rest.utf8.count
    let value = String(repeating: "x", count: (16 << 10) - size + excess)
    let answer = await send(request.replacing("X: ", with: "X: \(value)"), to: listener.port)
    #expect(httpStatus(of: answer) == status)
  }

  @Test(arguments: [
    "Sec-Fetch-Mode: navigate\nSec-Fetch-Site: cross-site\nSec-Fetch-Dest: document\nOrigin: null\n",
    "Expect: 100-continue\n", "Cookie: a=b\nCookie: c=d\n",
  ])
  func `Header fields of browsers are accepted`(_ fields: String) async throws {
    let answer = await send(
      form("code=1&state=right", type: "application/x-www-form-urlencoded; charset=UTF-8", fields: fields),
      to: listener.port)
    #expect(answer.contains("HTTP/1.1 200 "))
    #expect(try await listener.response(timeout: .seconds(200))["code"] == "1")
  }

  @Test(
    arguments: [
      ("", "en", "There is nothing here."), ("Accept-Language: *\n", "en", "There is nothing here."),
      ("Accept-Language: de-AT,de;q=0.9,en;q=0.5\n", "de", "Hier ist nichts."),
      ("Accept-Language: en;q=0.5, pt-BR\n", "pt", "Não há nada aqui."),
      ("Accept-Language: it, FR;q=0.3\n", "fr", "Il n’y a rien ici."),
      ("Accept-Language: it\nAccept-Language: es-419;q=0.7\n", "es", "Aquí no hay nada."),
      ("Accept-Language: de;q=0, it\n", "en", "There is nothing here."),
      ("Accept-Language: ;q=, ,=,de;q=x\n", "en", "There is nothing here."),
    ])
  func `A page is in the language that the browser prefers`(
    _ fields: String, _ language: String, _ text: String
  ) async throws {
    let page = await send(get("/other", fields: fields), to: listener.port)
    #expect(page.contains("<html lang=\"\(language)\">"))
    #expect(page.contains("<p>\(text)</p>"))
  }

  @Test func `Every answer forbids keeping and embedding`() async throws {
    for request in [answerForm, answerForm, get(), "nonsense\n\n"] {
      expectSafeFields(await send(request, to: listener.port))
    }
  }

  private func expectSafeFields(_ answer: String) {
    let expected = [
      "Cache-Control: no-store",
      "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; form-action 'none'",
      "Referrer-Policy: no-referrer", "X-Content-Type-Options: nosniff", "Connection: close",
    ]
    for field in expected { #expect(answer.contains("\r\n\(field)\r\n")) }
    #expect(!answer.lowercased().contains("access-control-"))
  }

  @Test(.conformance(15)) func `So many that no more are taken are closed after a while`() async throws {
    let idle = try (0..<16).map { _ in try #require(RawClient(listener.port)) }
    idle[15].write("POST / HTTP/1.1\r\nHost: localhost:\(listener.port)\r\n")
    #expect(httpStatus(of: await send(answerForm, to: listener.port)) == 200)
    // The first makes room. The last has begun a request that does not end, and is cut off in its turn.
    for client in [idle[0], idle[15]] { #expect(httpStatus(of: await client.readToEnd()) != 200) }
  }

  @Test(.conformance(2)) func `A query is answered with 303, to a path without the code`() async throws {
    let listener = try makeListener(.query, path: "/callback")
    let page = get("/callback/complete")
    #expect(httpStatus(of: await send(page, to: listener.port)) == 404)
    async let response = listener.response(timeout: .seconds(200))
    let redirect = await send(get("/callback?code=abc&state=right"), to: listener.port)
    #expect(httpStatus(of: redirect) == 303)
    #expect(redirect.contains("\r\nLocation: /callback/complete\r\n"))
    #expect(!redirect.contains("abc"))
    let landing = await send(page, to: listener.port)
    #expect(httpStatus(of: landing) == 200)
    #expect(landing.contains("return to the application"))
    #expect(try await response == ["code": "abc", "state": "right"])
    let again = await send(get("/callback?code=abc&state=right"), to: listener.port)
    #expect(httpStatus(of: again) == 410)
  }

  @Test(.conformance(2, 16)) func `Only a query is accepted where one is expected`() async throws {
    let listener = try makeListener(.query)
    let refused = await send(answerForm, to: listener.port)
    #expect(httpStatus(of: refused) == 405)
    #expect(refused.contains("\r\nAllow: GET\r\n") && refused.contains("must be in the address"))
    for query in ["", "?", "?code=1&state=wrong", "?code=1&state=right&state=right", "?code=%zz&state=right"]
    {
      let answer = await send(get("/\(query)"), to: listener.port)
      #expect(httpStatus(of: answer) == 400)
    }
  }

  @Test func `Query mode does not wait for a browser that does not follow`() async throws {
    let listener = try makeListener(.query)
    _ = await send(get("/?code=1&state=right"), to: listener.port)
    #expect(try await listener.response(timeout: .seconds(200))["code"] == "1")
  }

  @Test(arguments: [ResponseMode.formPost, .query])
  func `Curl sees the page`(_ mode: ResponseMode) async throws {
    let listener = try makeListener(mode)
    async let response = listener.response(timeout: .seconds(200))
    let parameters = ["--data-urlencode", "code=a&b", "--data-urlencode", "state=right"]
    let result = try await Child.runApart(
      "curl",
      ["-q", "-sSL", "--noproxy", "*"] + (mode == .query ? ["-G"] : []) + parameters + [
        "http://localhost:\(listener.port)"
      ])
    #expect(result.status == 0)
    #expect(result.standardOutput.hasSuffix("</html>\n"))
    #expect(try await response == ["code": "a&b", "state": "right"])
  }

  @Test(.conformance(13)) func `The wait ends at its timeout`() async throws {
    let start = ContinuousClock.now
    let error = await expectError(.timedOut) { try await listener.response(timeout: .milliseconds(100)) }
    #expect(error?.message == "The browser did not come back in time.")
    #expect(ContinuousClock.now - start >= .milliseconds(100))
  }

  @Test(.conformance(14)) func `The wait ends with its task`() async throws {
    let task = Task { try await listener.response(timeout: .seconds(50)) }
    _ = await send(get(), to: listener.port)
    task.cancel()
    await expectError(.cancelled) { try await task.value }
  }

  @Test(.conformance(13, 14)) func `Closing ends the wait, all connections and the port`() async throws {
    let idle = try #require(RawClient(listener.port))
    let task = Task { try await listener.response(timeout: .seconds(50)) }
    _ = await send(get(), to: listener.port)
    listener.close()
    listener.close()
    await expectError(.cancelled) { try await task.value }
    #expect(httpStatus(of: await idle.readToEnd()) != 200)
    // A child that another test is starting has what was open here for a moment.
    let port = listener.port
    try await eventually { RawClient(port) == nil && RawClient(port, host: "::1") == nil }
  }

  @Test func `End of the listener frees the port`() async throws {
    var listener: LoopbackListener? = try makeListener()
    let port = try #require(listener?.port)
    let idle = try #require(RawClient(port))
    listener = nil
    _ = await idle.readToEnd()
    try await eventually { RawClient(port) == nil }
  }

  @Test(.conformance(19)) func `A port that is taken for IPv6 only is named`() throws {
    // A listener of the test's own on [::1], whose port is free on 127.0.0.1.
    let descriptor = socket(AF_INET6, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_addr = in6addr_loopback
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let bound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && listen(descriptor, 1) == 0
          && getsockname(descriptor, $0, &length) == 0
      }
    }
    #expect(bound)
    let port = UInt16(bigEndian: address.sin6_port)
    let error = #expect(throws: GLibError.self) { try makeListener(port: port) }
    #expect(error?.isAddressInUse == true)
    #expect(error?.message.contains("\(port)") == true)
  }

  @Test func `Fixed port can be used again at once`() async throws {
    let port = try makeListener().port
    for _ in 0..<3 {
      // The port is given back on the listener's thread, soon after `close` or the listener's end.
      try await eventually { ["127.0.0.1", "::1"].allSatisfy { RawClient(port, host: $0) == nil } }
      let listener = try makeListener(port: port)
      let answer = await send(answerForm, to: port)
      #expect(httpStatus(of: answer) == 200)
      _ = try await listener.response(timeout: .seconds(200))
      listener.close()
    }
  }
}
