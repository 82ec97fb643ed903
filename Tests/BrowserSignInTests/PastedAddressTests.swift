import Foundation
import TestSupport

@testable import BrowserSignIn

/// Sign-ins whose browser is elsewhere: the page is shown, and the answer comes to the port or is pasted.
@Suite(.timeLimit(.minutes(20)))
struct PastedAddressTests {
  private static let page = "https://login.example.test/authorize?state=right"

  /// What a sign-in was told.
  private final class Story: Sendable {
    private let state = Mutex<(shown: [SignInPage], refusals: [IdentityError], asked: Int)>(([], [], 0))

    var shown: [SignInPage] { state.withLock { $0.shown } }
    var refusals: [String] { state.withLock { $0.refusals.map(\.message) } }
    var asked: Int { state.withLock { $0.asked } }

    func show(_ page: SignInPage) { state.withLock { $0.shown.append(page) } }

    /// The first time without a refusal.
    func ask(_ refusal: IdentityError?) -> Int {
      state.withLock { state in
        if let refusal { state.refusals.append(refusal) }
        state.asked += 1
        return state.asked - 1
      }
    }
  }

  private func authorize(
    _ browser: BrowserAuthenticator, redirectURI: String? = nil, timeout: Duration = .seconds(200)
  ) async throws(IdentityError) -> [String: String] {
    try await browser.authorize(
      startURL: { uri throws(IdentityError) in
        guard let url = URL(string: Self.page + "&redirect_uri=\(uri.absoluteString)") else {
          throw .cancelled
        }
        return url
      }, redirectURI: redirectURI.flatMap { URL(string: $0) },
      responseMode: browser.requiredResponseMode ?? .formPost, isExpected: { $0["state"] == "right" },
      timeout: timeout)
  }

  /// A browser that pastes these, each made of the page that was shown.
  private func pasting(
    _ story: Story, _ texts: [@Sendable (SignInPage) -> String?]
  ) -> BrowserAuthenticator {
    BrowserAuthenticator(show: { story.show($0) }) { refusal in
      let number = story.ask(refusal)
      guard let page = story.shown.first, texts.indices.contains(number) else { return nil }
      return texts[number](page)
    }
  }

  /// Opens an address with curl.
  private func open(_ address: String) async throws -> Child.Result {
    try await Child.runApart("curl", ["-q", "-s", "-L", address], environment: [:])
  }

  @Test(.conformance(1), .fault("slash"), arguments: ["", "/", "/signed-in", "/signed-in/", "/a%20b/c/"])
  func `The answer comes to the redirect URI as it is registered`(_ path: String) async throws {
    let story = Story()
    let browser = BrowserAuthenticator(show: { page in
      story.show(page)
      let address = page.redirectURI.absoluteString + "?code=1&state=right"
      let form = ["--data", "code=1&state=right", page.redirectURI.absoluteString]
      for arguments in [[address], form] {
        _ = try? Child.run("curl", ["-q", "-s", "--output", "/dev/null"] + arguments, environment: [:])
      }
    })
    #expect(try await authorize(browser, redirectURI: "http://localhost" + path)["code"] == "1")
    let page = try #require(story.shown.first)
    #expect(page.redirectURI.absoluteString == "http://localhost:\(try #require(page.port))" + path)
  }

  @Test(.conformance(1), .fault("slash")) func `A slash at the end makes it another redirect URI`() throws {
    let registered = try #require(URL(string: "http://localhost:1/signed-in/"))
    for (address, isAnswer) in [(registered.absoluteString, true), ("http://localhost:1/signed-in", false)] {
      let answer = try #require(URL(string: address + "?code=1&state=right"))
      #expect((answer.answer(to: registered) != nil) == isAnswer)
    }
  }

  @Test(.conformance(72), .fault("page opened")) func `Browsers start without the page's URL`() async throws {
    let files = try TemporaryDirectory()
    let program = try files.program(
      "browser",
      """
      #!/bin/sh
      printf %s "$1" > '\(files.path)/arguments'
      /usr/bin/curl -q -s -o /dev/null -w '%{redirect_url}' "$1" > '\(files.path)/page'
      /usr/bin/curl -q -s "$1"
      """)
    let browser = BrowserAuthenticator(browser: SystemBrowser(environment: ["BROWSER": program]))
    await expectError(.invalidState) { try await authorize(browser) }
    #expect(try files.contents("page").hasPrefix(Self.page + "&redirect_uri="))
    let arguments = try files.contents("arguments")
    #expect(arguments.hasPrefix("http://localhost:"))
    for word in ["state", "right", "login"] { #expect(!arguments.contains(word)) }
  }

  @Test(.conformance(1, 2)) func `A pasted address is the answer`() async throws {
    let story = Story()
    let browser = pasting(story, [{ " \($0.redirectURI.absoluteString)/?code=a%2Bb+c&state=right#\t" }])
    #expect(browser.requiredResponseMode == .query)
    #expect(try await authorize(browser) == ["code": "a+b c", "state": "right"])
    let page = try #require(story.shown.first)
    #expect(page.redirectURI.absoluteString == "http://localhost:\(try #require(page.port))")
    #expect(page.address.absoluteString == Self.page + "&redirect_uri=" + page.redirectURI.absoluteString)
    #expect(story.shown.count == 1)
  }

  @Test(.conformance(5, 6), .fault("wrong paste")) func `Wrong pastes fail with the reason`() async throws {
    let story = Story()
    let limit = SignInPage.pastedLimit
    let steps: [(@Sendable (SignInPage) -> String?, String?)] = [
      ({ _ in "" }, "That is not an address."), ({ _ in "code=x&state=right" }, "That is not an address."),
      ({ $0.address.absoluteString }, "That is the page to sign in at"),
      ({ _ in "http://localhost:1/?code=x&state=right" }, "ends at."),
      ({ "https" + $0.redirectURI.absoluteString.dropFirst(4) + "/?code=x&state=right" }, "ends at."),
      ({ $0.redirectURI.absoluteString + "/other?code=x&state=right" }, "ends at."),
      (
        { $0.redirectURI.absoluteString.replacing("localhost", with: "user@localhost") + "/?state=right" },
        "ends at."
      ),
      ({ $0.redirectURI.absoluteString }, "no response in it"),
      ({ $0.redirectURI.absoluteString + "/?" }, "no response in it"),
      ({ $0.redirectURI.absoluteString + "/#code=x&state=right" }, "no response in it"),
      ({ $0.redirectURI.absoluteString + "/?state=right&code=x&state=right" }, "no response in it"),
      ({ $0.redirectURI.absoluteString + "/?code=x&state=wrong" }, "another sign-in"),
      ({ $0.redirectURI.absoluteString + "/?error=access_denied" }, "another sign-in"),
      ({ _ in String(repeating: "x", count: limit) }, "That is not an address."),
      ({ _ in String(repeating: "x", count: limit + 1) }, "too long"),
      ({ $0.redirectURI.absoluteString + "/?error=access_denied&state=right" }, nil),
    ]
    let answer = try await authorize(pasting(story, steps.map(\.0)))
    #expect(answer["error"] == "access_denied")
    let reasons = steps.compactMap(\.1)
    #expect(story.refusals.count == reasons.count)
    for (refusal, reason) in zip(story.refusals, reasons) {
      #expect(refusal.contains(reason))
      #expect(!refusal.contains("code"))
    }
  }

  @Test func `An address to a scheme of the app's own can be pasted as well`() async throws {
    let (story, redirectURI, status) = (Story(), "msauth.com.example.mail://auth", Watched(""))
    var browser = pasting(
      story,
      [
        { page in
          // Where the browser begins, no response is taken.
          let evil = URL(string: "/?code=evil&state=right", relativeTo: page.launchAddress)?.absoluteString
          let options = ["-q", "-s", "-o", "/dev/null", "-w", "%{http_code}", evil ?? ""]
          let result = try? Child.run("curl", options, environment: [:])
          status.change { $0 = result?.standardOutput ?? "" }
          return redirectURI + "?code=x&state=right"
        }
      ])
    #expect(browser.checksSchemeHandler)
    browser.checksSchemeHandler = false
    #expect(try await authorize(browser, redirectURI: redirectURI)["code"] == "x")
    #expect(story.shown.first?.port == nil)
    #expect(status.read(\.self) == "400")
    browser = BrowserAuthenticator(show: { _ in })
    browser.checksSchemeHandler = false
    let error = await expectError(.timedOut) {
      try await authorize(browser, redirectURI: redirectURI, timeout: .milliseconds(10))
    }
    #expect(error?.advice?.contains("whether it may open the program") == true)
  }

  @Test func `When nothing more will be pasted, the answer at the port counts`() async throws {
    let story = Story()
    let (asked, continuation) = AsyncStream.makeStream(of: URL.self)
    let browser = BrowserAuthenticator(show: { story.show($0) }) { refusal in
      _ = story.ask(refusal)
      if let page = story.shown.first { continuation.yield(page.redirectURI) }
      return nil
    }
    async let answer = authorize(browser)
    for await uri in asked.prefix(1) { _ = try await open(uri.absoluteString + "/?code=x&state=right") }
    #expect(try await answer["code"] == "x")
    #expect(story.asked == 1)
  }

  @Test func `Whichever answer comes first counts, and the wait for a paste is cancelled`() async throws {
    let (pages, continuation) = AsyncStream.makeStream(of: URL.self)
    let browser = BrowserAuthenticator(
      show: { continuation.yield($0.redirectURI) },
      pasted: { _ in
        // A person who never pastes anything.
        for await _ in AsyncStream<Never>.makeStream().stream {}
        return Task.isCancelled ? nil : "http://localhost/"
      })
    async let answer = authorize(browser)
    for await uri in pages.prefix(1) { _ = try await open(uri.absoluteString + "/?code=x&state=right") }
    #expect(try await answer["code"] == "x")
  }

  @Test(.conformance(13, 14)) func `Waiting for a paste ends by timeout and with the task`() async throws {
    let (pages, continuation) = AsyncStream.makeStream(of: Void.self)
    let browser = BrowserAuthenticator(
      show: { _ in continuation.yield() },
      pasted: { _ in
        for await _ in AsyncStream<Never>.makeStream().stream {}
        return nil
      })
    await expectError(.timedOut) { try await authorize(browser, timeout: .milliseconds(10)) }
    let signIn = Task { try await authorize(browser) }
    for await _ in pages.dropFirst().prefix(1) { signIn.cancel() }
    await expectError(.cancelled) { try await signIn.value }
  }

  @Test func `A page that cannot be shown ends the wait, and nothing is asked for`() async throws {
    let story = Story()
    let browser = BrowserAuthenticator(
      show: { _ throws(IdentityError) in throw IdentityError(.browserUnavailable, "No.") },
      pasted: { refusal in
        _ = story.ask(refusal)
        return nil
      })
    await expectError(.browserUnavailable) { try await authorize(browser) }
    #expect(story.asked == 0)
  }

  @Test(.conformance(19)) func `A given port overrides the redirect URI's; a taken one fails`() async throws {
    let taken = try LoopbackListener(port: 0, path: "/", mode: .query) { _ in false }
    defer { taken.close() }
    var browser = BrowserAuthenticator(port: taken.port, show: { _ in })
    #expect(browser.requiredResponseMode == nil)
    let error = await expectError(.listenerFailed) {
      try await authorize(browser, redirectURI: "http://localhost:1")
    }
    #expect(error?.message.contains("Port \(taken.port) ") == true)
    #expect(error?.advice?.contains("another port") == true)
    browser.port = nil
    #expect(browser.port == nil)
  }

  @Test(arguments: [("echo Open", "Open https://localhost/\n"), ("printf x", "x")])
  func `What the command of BROWSER prints is passed on`(_ command: String, _ expected: String) async throws {
    let url = try #require(URL(string: "https://localhost/"))
    let text = Mutex<[UInt8]>([])
    let environment = ["BROWSER": command, "PATH": "/usr/bin:/bin"]
    try await SystemBrowser(environment: environment) { part in text.withLock { $0 += part } }.open(url)
    try await eventually { text.withLock { $0 == Array(expected.utf8) } }
  }

  @Test(.fault("browser prints")) func `A browser outlives who reads what it prints`() throws {
    let directory = try TemporaryDirectory()
    let script = "echo 1; echo 2; echo done > '\(directory.path)/end'"
    let pipe = try TestSupport.Pipe()
    pipe.closeReading()
    let child = try ChildProcess(
      ["sh", "-c", script], environment: ["PATH": "/usr/bin:/bin"], output: pipe.writing, survivesReader: true
    )
    #expect(child.wait() == 0)
    #expect(FileManager.default.fileExists(atPath: directory.path + "/end"))
  }
}
