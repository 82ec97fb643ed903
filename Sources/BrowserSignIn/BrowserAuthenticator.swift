import CGLib
public import FoundationEssentials
import GLibSupport
import HTTPListener
public import IdentityClient

/// Signs people in in the system's browser, and takes the response on the loopback interface or at a scheme of the
/// application's own (RFC 8252).
///
/// Such a scheme needs a desktop file that makes the program its handler, which `llavero scheme install` writes, and a
/// program that begins with ``RedirectHandover``.
///
/// For example:
///
/// ```swift
/// let client = PublicClient(
///   configuration: configuration, cache: cache, transport: transport,
///   authenticator: BrowserAuthenticator())
/// let result = try await client.token(for: ["User.Read"])
/// ```
public struct BrowserAuthenticator: WebAuthenticator {
  /// Shows people the page that they sign in at.
  public typealias Presenter = @Sendable (SignInPage) async throws(IdentityError) -> Void

  /// Returns the next address that a person pasted; gets why the one before did not end the sign-in. `nil` when no
  /// more will come, which does not end the wait for the browser. It is cancelled when the sign-in ends otherwise.
  public typealias PastedAddresses = @Sendable (_ refusal: IdentityError?) async -> String?

  /// The port of the loopback interface that the response comes to, in place of the redirect URI's; without either it is
  /// any free one.
  public var port: UInt16?
  /// Whether a sign-in whose redirect URI has a scheme of the application's own fails at once where the desktop's handler
  /// for it is another program, or missing. Programs that are started by way of another, such as a script, say false.
  public var checksSchemeHandler = true
  private let present: Presenter
  private let pasted: PastedAddresses?
  /// What opens the pages, unless the program does.
  private let browser: SystemBrowser?

  /// - Parameter browser: Opens the pages.
  public init(browser: SystemBrowser = SystemBrowser()) {
    self.browser = browser
    present = { page throws(IdentityError) in try await browser.open(page.launchAddress) }
    pasted = nil
  }

  /// Shows the page in a way of the program's own.
  ///
  /// The browser may be on another machine, as over SSH. Then the response comes by a tunnel to the port, or as the address
  /// that the browser ended at and could not load, whichever comes first. Only an address with the response to this sign-in counts,
  /// by the same rules as for what comes to the port. Where addresses are taken the response is in the address, not in a
  /// form.
  ///
  /// - Parameters:
  ///   - port: The port of the loopback interface that the response comes to; any free one unless it is given.
  ///   - show: Opens the page, or shows people its address.
  ///   - pasted: Gives addresses that people pasted. It is not called before `show` is done.
  public init(port: UInt16? = nil, show: @escaping Presenter, pasted: PastedAddresses? = nil) {
    self.port = port
    self.pasted = pasted
    present = show
    browser = nil
  }

  /// Whether the system has a browser; `true` where the program shows the pages.
  public var isAvailable: Bool { browser?.isAvailable ?? true }

  /// An address has the response in it only if that is not a form.
  public var requiredResponseMode: ResponseMode? { pasted == nil ? nil : .query }

  /// Returns what signs people in in a private window of the system's browser; `nil` where that cannot be asked for one,
  /// and where the program opens pages in a way of its own.
  public func ephemeral() async -> (any WebAuthenticator)? {
    guard let window = await browser?.privateWindow() else { return nil }
    var authenticator = BrowserAuthenticator(browser: window)
    authenticator.port = port
    authenticator.checksSchemeHandler = checksSchemeHandler
    return authenticator
  }

  /// Opens a page and waits for the expected response.
  ///
  /// - Throws: `IdentityError`: `IdentityError.Code.browserUnavailable`,
  ///   `IdentityError.Code.listenerFailed`, `IdentityError.Code.redirectSchemeNotRegistered`,
  ///   `IdentityError.Code.invalidState` where the page was opened twice,
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
        .invalidRedirectURI, "A response to an https address cannot be received on this machine.",
        advice: "Register http://localhost.")
    }
    let listener = try listen(redirectURI, responseMode, isExpected)
    defer { listener.close() }
    // As it was registered, with the port that is listened on.
    var parts =
      redirectURI.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true) } ?? URLComponents()
    (parts.scheme, parts.host, parts.port) = ("http", parts.host ?? "localhost", Int(listener.port))
    guard let answered = parts.url else {
      throw IdentityError(.invalidRedirectURI, "The redirect URI cannot be used.")
    }
    let page = try SignInPage(address: try startURL(answered), redirectURI: answered, on: listener)
    return try await response(to: page, isExpected, timeout, [listener.response])
  }

  /// Opens a page whose response comes to a scheme of the application's own.
  private func authorize(
    _ startURL: @Sendable (URL) throws(IdentityError) -> URL, ownScheme redirectURI: URL,
    _ isExpected: @escaping @Sendable ([String: String]) -> Bool, _ timeout: Duration
  ) async throws(IdentityError) -> [String: String] {
    // Programs are told that the page is being opened when its address is made.
    if checksSchemeHandler { try await RedirectScheme.check(redirectURI) }
    let address = try startURL(redirectURI)
    let listener: RedirectListener
    do throws(PrivateFileError) {
      listener = try RedirectListener(
        directory: RedirectMailbox.makeOwnDirectory().path, redirectURI: redirectURI,
        state: address.state ?? "", isExpected: isExpected)
    } catch {
      throw IdentityError(
        .listenerFailed, "The response cannot be waited for: \(error)",
        advice: "XDG_RUNTIME_DIR names the directory that is used.")
    }
    defer { listener.close() }
    // No response comes here, but the browser begins here.
    let launcher = try listen(nil, .query) { _ in false }
    defer { launcher.close() }
    let page = try SignInPage(address: address, redirectURI: redirectURI, on: launcher)
    do throws(IdentityError) {
      return try await response(to: page, isExpected, timeout, [listener.response, launcher.response])
    } catch var error {
      if error.code == .timedOut {
        error.advice =
          "If the browser asked whether it may open the program, allow it; if it showed an error, check whether "
          + "\(redirectURI.absoluteString) is registered as a redirect URI of the application."
      }
      throw error
    }
  }

  /// Shows a page and waits meanwhile: the response may come before the browser's command ends, and a browser that cannot
  /// be started ends the wait.
  private func response(
    to page: SignInPage, _ isExpected: @escaping @Sendable ([String: String]) -> Bool, _ timeout: Duration,
    _ responses: [@Sendable (Duration) async throws(IdentityError) -> [String: String]]
  ) async throws(IdentityError) -> [String: String] {
    let (present, pasted) = (present, pasted)
    return try await withTaskGroup(of: Result<[String: String], IdentityError>?.self) { group in
      for response in responses {
        group.addTask {
          await .catching { () async throws(IdentityError) in try await response(timeout) }
        }
      }
      group.addTask {
        do throws(IdentityError) {
          try await present(page)
          guard let pasted else { return nil }
          return await page.answer(in: pasted, isExpected)
        } catch {
          return .failure(error)
        }
      }
      defer { group.cancelAll() }
      while let next = await group.next() {
        if let outcome = next { return outcome }
      }
      return .failure(IdentityError(.unexpected, "No task waited for the browser."))
    }.get()
  }

  private func listen(
    _ redirectURI: URL?, _ mode: ResponseMode, _ isExpected: @escaping @Sendable ([String: String]) -> Bool
  ) throws(IdentityError) -> LoopbackListener {
    let port = port ?? UInt16(clamping: redirectURI?.port ?? 0)
    // Not `path`, which leaves a final slash out.
    let path = redirectURI?.path(percentEncoded: false) ?? ""
    do {
      return try LoopbackListener(
        port: port, path: path.isEmpty ? "/" : path, mode: mode, isExpected: isExpected)
    } catch {
      let advice: String? =
        if error.isAddressInUse {
          "End the other program, or let another port be used."
        } else if error.isIO(G_IO_ERROR_PERMISSION_DENIED) {
          "Use a port of 1024 or more: those below are the system's."
        } else { nil }
      throw IdentityError(.listenerFailed, error.message, advice: advice)
    }
  }
}

extension SignInPage {
  fileprivate init(
    address: URL, redirectURI: URL, on listener: LoopbackListener
  ) throws(IdentityError) {
    guard let launchAddress = URL(string: listener.launchAddress(of: address.absoluteString)) else {
      throw IdentityError(.listenerFailed, "No address can be made for the port \(listener.port).")
    }
    self.init(address: address, launchAddress: launchAddress, redirectURI: redirectURI)
  }
}
