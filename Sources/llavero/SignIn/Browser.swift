import BrowserSignIn
import FoundationEssentials
import GLibSupport
import IdentityClient

extension BrowserAuthenticator {
  /// Opens pages in this machine's browser, and shows the output of the command in `BROWSER`.
  static func here(port: UInt16? = nil) -> BrowserAuthenticator {
    let browser = SystemBrowser { Terminal.errors.write($0) }
    return BrowserAuthenticator(port: port) { page throws(IdentityError) in
      let instruction = "open this page yourself: " + printable(page.address.absoluteString)
      // The browser may be on another desktop.
      Terminal.note("If no browser opens, " + instruction)
      do throws(IdentityError) {
        if try await !browser.open(page.launchAddress) {
          let shown = Terminal.isQuiet ? instruction : "open the page above yourself"
          Terminal.error(
            "The browser's command reported an error. Still waiting: if no page opened, \(shown)")
        }
      } catch {
        // The note was hidden.
        if Terminal.isQuiet { Terminal.error("No browser opened; " + instruction) }
        throw error
      }
    }
  }
}

/// Shows the page's address for a browser on the machine where the person sits, and how its response gets here.
struct RemoteBrowser: WebAuthenticator {
  /// Long enough to open a tunnel and sign in; a device code is valid for as long.
  static let timeout = Duration.seconds(900)

  let port: UInt16?

  // A pasted address has the response in its query.
  var requiredResponseMode: ResponseMode? { PastedLines.arePossible ? .query : nil }

  func authorize(
    startURL: @escaping @Sendable (URL) throws(IdentityError) -> URL, redirectURI: URL?,
    responseMode: ResponseMode, isExpected: @escaping @Sendable ([String: String]) -> Bool, timeout: Duration
  ) async throws(IdentityError) -> [String: String] {
    let lines = PastedLines(prompt: "Address")
    defer { lines?.end() }
    var browser = BrowserAuthenticator(
      port: port, show: { page in Self.show(page, takesAddresses: lines != nil) },
      pasted: lines.map { lines -> BrowserAuthenticator.PastedAddresses in
        { refusal in
          if let refusal { Terminal.error(printable(refusal.description)) }
          return await lines.next()
        }
      })
    // The handler on the machine with the browser cannot be checked.
    browser.checksSchemeHandler = false
    return try await browser.authorize(
      startURL: startURL, redirectURI: redirectURI, responseMode: responseMode, isExpected: isExpected,
      timeout: timeout)
  }

  private static func show(_ page: SignInPage, takesAddresses: Bool) {
    var text = "Open this page in a browser where you sit:\n\n  \(printable(page.address.absoluteString))\n"
    if let port = page.port {
      text += """

        The response comes to port \(port) of this machine. Before you sign in, run this where you sit:

          \(printable(sshTunnelCommand(port: port)))

        """
    }
    if takesAddresses {
      text += """

        Or paste the address of the browser's last page, which fails to load, here, and press Enter. It is not shown.

        """
    }
    Terminal.errors.write(text)
  }
}

/// The ssh command that forwards a port of the person's machine to the same port of this one, where the browser's response
/// is expected.
private func sshTunnelCommand(port: UInt16) -> String {
  let environment = processEnvironment()
  // The address and port by which this machine was reached (ssh(1)).
  let connection = environment["SSH_CONNECTION"]?.split(separator: " ").map(String.init) ?? []
  let isKnown = connection.count == 4
  let user = environment["USER"].flatMap { $0.isEmpty ? nil : $0 + "@" } ?? ""
  let host = isKnown ? connection[2] : ProcessInfo.processInfo.hostName
  var words = ["ssh", "-L", "\(port):localhost:\(port)", user + host]
  // ssh takes options after the host, too, which reads better.
  if isKnown, connection[3] != "22" { words += ["-p", connection[3]] }
  return words.map(shellQuoted).joined(separator: " ")
}
