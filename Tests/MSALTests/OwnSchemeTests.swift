@testable import BrowserSignIn
import Foundation
import IdentityBroker
@testable import MSAL
import TestSupport

/// Redirect URIs with a custom scheme, in a process with its own desktop files and runtime directory.
struct OwnSchemeTests {
  private static let redirectURI = "msauth.org.example.mail://auth"

  private static func useOwnDirectories() throws -> TemporaryDirectory {
    let home = try TemporaryDirectory()
    for name in ["DATA_HOME", "CONFIG_HOME", "DATA_DIRS", "CONFIG_DIRS", "RUNTIME_DIR"] {
      setenv("XDG_\(name)", try home.directory(name), 1)
    }
    setenv("BROWSER", "true", 1)
    return home
  }

  /// Makes a shell script the browser.
  private static func useBrowser(in home: TemporaryDirectory, _ script: String) throws {
    setenv("BROWSER", try home.program("browser", "#!/bin/sh\n\(script)\n"), 1)
  }

  private static func application(
    _ entra: FakeEntra, bypasses: Bool
  ) throws -> MSALPublicClientApplication {
    let config = MSALPublicClientApplicationConfig(
      clientId: FakeEntra.clientID, redirectUri: redirectURI, authority: nil)
    config.bypassRedirectURIValidation = bypasses
    // The scheme is one for a broker, too, and the session bus is the person's.
    config.broker = LinuxBroker(busAddress: "unix:path=/proc/nonexistent")
    config.cacheConfig.store = InMemoryStore()
    return try MSALPublicClientApplication(
      configuration: config, transport: entra.server, authenticator: defaultAuthenticator(config))
  }

  @Test(.fault("bare scheme"), arguments: ["msauth.://auth", "MSAUTH.://auth", "msauth.com.example.://auth"])
  func `A scheme without the app's name is refused`(_ redirectURI: String) {
    let config = MSALPublicClientApplicationConfig(
      clientId: FakeEntra.clientID, redirectUri: redirectURI, authority: nil)
    let error = #expect(throws: NSError.self) { try MSALPublicClientApplication(configuration: config) }
    #expect(error?.internalCode == MSALInternalError.internalErrorInvalidRedirectURI.rawValue)
  }

  @Test(.fault("scheme nowhere"))
  func `A scheme without a handler for this app is MSAL's error, at once`() async {
    await #expect(processExitsWith: .success) {
      let home = try Self.useOwnDirectories()
      let opened = Mutex(0)
      let token = NotificationCenter.default.addObserver(
        forName: .MSALWebAuthDidStartLoad, object: nil, queue: nil
      ) { _ in opened.withLock { $0 += 1 } }
      defer { NotificationCenter.default.removeObserver(token) }
      do {
        _ = try await Self.application(FakeEntra(), bypasses: false).signIn()
        exit(1)
      } catch let error as NSError {
        guard error.domain == MSALErrorDomain, error.code == MSALError.internal.rawValue,
          error.internalCode == MSALInternalError.internalErrorRedirectSchemeNotRegistered.rawValue,
          error.localizedRecoverySuggestion?.contains("llavero scheme install msauth.org.example.mail /")
            ?? false
        else {
          print(error, error.userInfo)
          exit(2)
        }
      }
      // Pending notifications come first.
      await withCheckedContinuation { continuation in
        DispatchQueue.main.async { continuation.resume() }
      }
      guard opened.withLock({ $0 }) == 0 else { exit(3) }
      withExtendedLifetime(home) {}
    }
  }

  @Test func `A redirect for another process is delivered to it`() async {
    await #expect(processExitsWith: .success) {
      let home = try Self.useOwnDirectories()
      guard let redirectURI = URL(string: Self.redirectURI),
        let stray = URL(string: Self.redirectURI + "?code=1&state=wrong"),
        let answer = URL(string: Self.redirectURI + "?code=1&state=right")
      else { exit(1) }
      let listener = try RedirectListener(
        directory: RedirectMailbox.ownDirectory, redirectURI: redirectURI, state: "right"
      ) { $0["state"] == "right" }
      async let response = listener.response(timeout: .seconds(200))
      let verdicts = await blocking {
        [stray, answer].map { MSALPublicClientApplication.handleMSALResponse($0, sourceApplication: nil) }
      }
      guard verdicts == [false, true], try await response["code"] == "1" else { exit(2) }
      withExtendedLifetime(home) {}
    }
  }

  @Test(.fault("page opened")) func `Opening the page twice ends the sign-in`() async {
    await #expect(processExitsWith: .success) {
      let home = try Self.useOwnDirectories()
      let arguments = home.path + "/arguments"
      try Self.useBrowser(
        in: home,
        "printf %s \"$1\" > '\(arguments)'\nfor i in 1 2; do /usr/bin/curl -q -s -o /dev/null \"$1\"; done")
      do {
        _ = try await Self.application(FakeEntra(), bypasses: true).signIn()
        exit(2)
      } catch let error as NSError {
        guard error.domain == MSALErrorDomain, error.localizedDescription.contains("opened twice") else {
          print(error)
          exit(3)
        }
      }
      guard try String(contentsOfFile: arguments, encoding: .utf8).hasPrefix("http://localhost:") else {
        exit(4)
      }
      withExtendedLifetime(home) {}
    }
  }

  @Test func `Bypassing the scheme check accepts the response in the same process`() async {
    await #expect(processExitsWith: .success) {
      let home = try Self.useOwnDirectories()
      let pipe = home.path + "/page"
      guard mkfifo(pipe, 0o600) == 0 else { exit(1) }
      // A URL of this machine redirects to the page.
      try Self.useBrowser(
        in: home, "/usr/bin/curl -q -s -o /dev/null -w '%{redirect_url}' \"$1\" > '\(pipe)'")
      let entra = FakeEntra()
      let application = try Self.application(entra, bypasses: true)
      let signIn = Task { try await application.signIn().account.username }
      let text = await blocking { FileHandle(forReadingAtPath: pipe)?.readDataToEndOfFile() ?? Data() }
      let page = URL(string: String(decoding: text, as: UTF8.self))
      guard let state = page?.parameter("state"),
        let answer = URL(string: Self.redirectURI + "?code=1&state=\(state)")
      else { exit(2) }
      entra.serve(.alice, at: page)
      guard MSALPublicClientApplication.handleMSALResponse(answer, sourceApplication: nil),
        try await signIn.value == "alice@contoso.test"
      else { exit(3) }
      withExtendedLifetime(home) {}
    }
  }
}
