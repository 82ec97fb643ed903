public import FoundationEssentials
import GLibSupport
import HTTPListener
public import IdentityClient

/// Signs people in in the system's browser, and takes its answer on the loopback interface or at a scheme of the
/// application's own (RFC 8252).
///
/// Such a scheme needs a desktop file that leads its addresses to the program, which `llavero scheme install` makes, and a
/// program that begins with ``RedirectHandover``.
public struct BrowserAuthenticator: WebAuthenticator {
  /// Opens a page.
  public typealias Opener = @Sendable (URL) async throws(IdentityError) -> Void

  /// Whether a sign-in whose redirect URI has a scheme of the application's own fails at once where the desktop leads that
  /// to another program, or to none. Programs that are started by way of another, such as a script, say false.
  public var checksSchemeHandler = true
  private let open: Opener
  /// What opens the pages, unless the program does.
  private let browser: SystemBrowser?

  /// - Parameter browser: Opens the pages.
  public init(browser: SystemBrowser = SystemBrowser()) {
    self.browser = browser
    open = { url throws(IdentityError) in try await browser.open(url) }
  }

  /// - Parameter open: Opens a page in a way of the program's own. It should show people the address too, since the
  ///   browser may be on another desktop.
  public init(open: @escaping Opener) {
    browser = nil
    self.open = open
  }

  /// Returns what signs people in in a private window of the system's browser; `nil` where that cannot be asked for one,
  /// and where the program opens pages in a way of its own.
  public func ephemeral() async -> (any WebAuthenticator)? {
    guard let window = await browser?.privateWindow() else { return nil }
    var authenticator = BrowserAuthenticator(browser: window)
    authenticator.checksSchemeHandler = checksSchemeHandler
    return authenticator
  }

  /// Opens a page and waits for the answer that is expected.
  ///
  /// - Throws: `IdentityError`: `IdentityError.Code.browserUnavailable`,
  ///   `IdentityError.Code.listenerFailed`, `IdentityError.Code.redirectSchemeNotRegistered`,
  ///   `IdentityError.Code.timedOut` or `IdentityError.Code.cancelled`.
  public func authorize(
    startURL: @escaping @Sendable (URL) throws(IdentityError) -> URL, redirectURI: URL?,
    responseMode: ResponseMode, isExpected: @escaping @Sendable ([String: String]) -> Bool, timeout: Duration
  ) async throws(IdentityError) -> [String: String] {
    if let redirectURI, redirectURI.isOwnScheme {
      return try await authorize(startURL, ownScheme: redirectURI, isExpected, timeout)
    }
    guard redirectURI?.scheme?.lowercased() != "https" else {
      throw IdentityError(
        .invalidRedirectURI, "An answer to an https address cannot be taken on this machine.",
        advice: "Register http://localhost.")
    }
    let listener = try listen(redirectURI, responseMode, isExpected)
    defer { listener.close() }
    let page = try startURL(try Self.redirectURI(redirectURI, port: listener.port))
    return try await answer(to: page) { () async throws(LoopbackError) in
      try await listener.response(timeout: timeout)
    }
  }

  /// Opens a page whose answer comes to a scheme of the application's own.
  private func authorize(
    _ startURL: @Sendable (URL) throws(IdentityError) -> URL, ownScheme redirectURI: URL,
    _ isExpected: @escaping @Sendable ([String: String]) -> Bool, _ timeout: Duration
  ) async throws(IdentityError) -> [String: String] {
    // Programs are told that the page is being opened when its address is made.
    if checksSchemeHandler { try await RedirectScheme.check(redirectURI) }
    let page = try startURL(redirectURI)
    let listener: RedirectListener
    do throws(PrivateFileError) {
      listener = try RedirectListener(
        directory: RedirectMailbox.ownDirectory, redirectURI: redirectURI, state: page.state ?? "",
        isExpected: isExpected)
    } catch {
      throw IdentityError(
        .listenerFailed, "The answer cannot be waited for: \(error)",
        advice: "XDG_RUNTIME_DIR names the directory that is used.")
    }
    defer { listener.close() }
    do throws(IdentityError) {
      return try await answer(to: page) { () async throws(LoopbackError) in
        try await listener.response(timeout: timeout)
      }
    } catch {
      var error = error
      if error.code == .timedOut {
        error.advice =
          "If the browser asked whether it may open the program, allow it; if it showed an error, see whether "
          + "\(redirectURI.absoluteString) is registered as a redirect URI of the application."
      }
      throw error
    }
  }

  /// Opens a page and waits meanwhile: the answer may come before the browser's command ends, and a browser that cannot
  /// be started ends the wait.
  private func answer(
    to page: URL, _ response: @escaping @Sendable () async throws(LoopbackError) -> [String: String]
  ) async throws(IdentityError) -> [String: String] {
    let open = open
    return try await withTaskGroup(of: Outcome?.self) { group in
      group.addTask { await Outcome.catching(response) }
      group.addTask {
        do throws(IdentityError) {
          try await open(page)
          return nil
        } catch {
          return .failure(error)
        }
      }
      defer { group.cancelAll() }
      while let next = await group.next() {
        if let outcome = next { return outcome }
      }
      return .failure(IdentityError(.unexpected, "Nobody waited for the browser."))
    }.get()
  }

  private typealias Outcome = Result<[String: String], IdentityError>

  private func listen(
    _ redirectURI: URL?, _ mode: ResponseMode, _ isExpected: @escaping @Sendable ([String: String]) -> Bool
  ) throws(IdentityError) -> LoopbackListener {
    let port = redirectURI?.port ?? 0
    let path = redirectURI.map(\.path) ?? ""
    do throws(ListeningError) {
      return try LoopbackListener(
        port: UInt16(clamping: port), path: path.isEmpty ? "/" : path,
        mode: mode == .formPost ? .formPost : .query,
        isExpected: isExpected)
    } catch {
      throw IdentityError(
        .listenerFailed, error.description,
        advice: "End the other program, or use a redirect URI without a port.")
    }
  }

  /// The redirect URI as it was registered, with the port that is listened on.
  private static func redirectURI(_ configured: URL?, port: UInt16) throws(IdentityError) -> URL {
    var parts =
      configured.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true) } ?? URLComponents()
    parts.scheme = "http"
    parts.host = parts.host ?? "localhost"
    parts.port = Int(port)
    guard let url = parts.url else {
      throw IdentityError(.invalidRedirectURI, "The redirect URI cannot be used.")
    }
    return url
  }
}

extension Result where Success == [String: String], Failure == IdentityError {
  fileprivate static func catching(
    _ work: @Sendable () async throws(LoopbackError) -> [String: String]
  ) async -> Self {
    do throws(LoopbackError) {
      return .success(try await work())
    } catch {
      return .failure(IdentityError(loopback: error))
    }
  }
}

extension IdentityError {
  fileprivate init(loopback error: LoopbackError) {
    switch error {
    case .cancelled: self.init(.cancelled, "The sign-in was cancelled.")
    case .timedOut:
      self.init(
        .timedOut, error.description,
        advice: "If the browser showed an error, see whether the application's redirect URI is registered: "
          + "http://localhost under \"Mobile and desktop applications\".")
    }
  }
}
