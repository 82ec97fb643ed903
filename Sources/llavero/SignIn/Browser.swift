import BrowserSignIn
import FoundationEssentials
import IdentityClient

extension BrowserAuthenticator {
  /// Opens pages in the browser of this machine, and shows what the command of `BROWSER` prints.
  static func here(port: UInt16? = nil) -> BrowserAuthenticator {
    let browser = SystemBrowser { Terminal.errors.write($0) }
    return BrowserAuthenticator(port: port) { page throws(IdentityError) in
      // The browser may be on another desktop.
      Terminal.error("If no browser opens, open this page yourself: " + page.printableAddress)
      try await browser.open(page.launchAddress)
    }
  }
}

/// Shows people the page's address, for a browser on the machine where they sit, and how its answer comes here.
struct BrowserElsewhere: WebAuthenticator {
  /// To make a tunnel and sign in takes longer than to sign in; a device code is good for as long.
  static let patience = Duration.seconds(900)

  let port: UInt16?

  // Without a way to paste, the code is in no address.
  var requiredResponseMode: ResponseMode? { PastedLines.arePossible ? .query : nil }

  func authorize(
    startURL: @escaping @Sendable (URL) throws(IdentityError) -> URL, redirectURI: URL?,
    responseMode: ResponseMode, isExpected: @escaping @Sendable ([String: String]) -> Bool, timeout: Duration
  ) async throws(IdentityError) -> [String: String] {
    let lines = PastedLines(prompt: "Address")
    defer { lines?.end() }
    let browser = BrowserAuthenticator(
      port: port, show: { page in Self.show(page, takesAddresses: lines != nil) },
      pasted: lines.map(Self.addresses))
    return try await browser.authorize(
      startURL: startURL, redirectURI: redirectURI, responseMode: responseMode, isExpected: isExpected,
      timeout: timeout)
  }

  private static func addresses(in lines: PastedLines) -> BrowserAuthenticator.PastedAddresses {
    { refusal in
      if let refusal { Terminal.error(printable(refusal.description)) }
      return await lines.next()
    }
  }

  private static func show(_ page: SignInPage, takesAddresses: Bool) {
    var text = "Open this page in a browser where you sit:\n\n  \(page.printableAddress)\n"
    if let port = page.port {
      text += """

        Its answer comes to port \(port) of this machine. Let it through before you sign in, in a terminal where you sit:

          \(printable(sshTunnelCommand(port: port)))

        """
    }
    if takesAddresses {
      text += """

        Or let the browser's last page fail to load, paste its address here, which is not shown, and press Enter.

        """
    }
    Terminal.errors.write(text)
  }
}

extension SignInPage {
  fileprivate var printableAddress: String { printable(address.absoluteString) }
}
