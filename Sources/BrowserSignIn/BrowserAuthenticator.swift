public import FoundationEssentials
public import IdentityClient

/// Signs people in in the system's browser, and listens for its answer on the loopback interface (RFC 8252).
public struct BrowserAuthenticator: WebAuthenticator {
  /// Opens a page.
  public typealias Opener = @Sendable (URL) async throws(IdentityError) -> Void

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
    await browser?.privateWindow().map { BrowserAuthenticator(browser: $0) }
  }

  /// Opens a page and waits for the answer that is expected.
  ///
  /// - Throws: ``IdentityError``: ``IdentityError/Code/browserUnavailable``,
  ///   ``IdentityError/Code/listenerFailed``, ``IdentityError/Code/timedOut`` or
  ///   ``IdentityError/Code/cancelled``.
  public func authorize(
    startURL: @escaping @Sendable (URL) throws(IdentityError) -> URL, redirectURI: URL?,
    responseMode: ResponseMode, isExpected: @escaping @Sendable ([String: String]) -> Bool, timeout: Duration
  ) async throws(IdentityError) -> [String: String] {
    if let redirectURI, redirectURI.scheme?.lowercased() != "http" {
      guard redirectURI.scheme?.lowercased() != "https" else {
        throw IdentityError(
          .invalidRedirectURI, "An answer to an https address cannot be taken on this machine.",
          advice: "Register http://localhost.")
      }
      try await open(try startURL(redirectURI))
      return try await wait(timeout)
    }
    let listener = try listen(redirectURI, responseMode, isExpected)
    defer { listener.close() }
    let page = try startURL(try Self.redirectURI(redirectURI, port: listener.port))
    let open = open
    // The answer may come before the browser's command ends, and a browser that cannot be started ends the
    // wait.
    return try await withTaskGroup(of: Outcome?.self) { group in
      group.addTask {
        await Outcome.catching { () async throws(LoopbackError) in
          try await listener.response(timeout: timeout)
        }
      }
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
    do throws(LoopbackError) {
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

  /// Waits for somebody else to take the answer.
  private func wait(_ timeout: Duration) async throws(IdentityError) -> [String: String] {
    do {
      try await Task.sleep(for: timeout)
    } catch {
      throw IdentityError(.cancelled, "The sign-in was cancelled.")
    }
    throw IdentityError(loopback: .timedOut(refusedAnswers: 0))
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
    case .portInUse, .cannotListen: self.init(.listenerFailed, error.description)
    case .cancelled: self.init(.cancelled, "The sign-in was cancelled.")
    case .timedOut:
      self.init(
        .timedOut, error.description,
        advice: "If the browser showed an error, see whether the application's redirect URI is registered: "
          + "http://localhost under \"Mobile and desktop applications\".")
    }
  }
}
