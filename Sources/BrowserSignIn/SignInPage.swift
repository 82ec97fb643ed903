public import FoundationEssentials
import IdentityClient
import TokenCache

/// The page that a person signs in at, in whatever browser.
public struct SignInPage: Sendable, Hashable {
  /// The page's address. A user who sees it can finish the sign-in as another account.
  public let address: URL
  /// An address of this machine that redirects a browser to the page, once; a second request of it ends the sign-in. For
  /// the browser's command line, which other users of the machine can read.
  public let launchAddress: URL
  /// Where the browser ends: the address of its last page is this one, with the response.
  public let redirectURI: URL

  /// The port of the loopback interface that the response comes to; `nil` where it comes to a scheme of the application's
  /// own.
  public var port: UInt16? { redirectURI.port.flatMap { UInt16(exactly: $0) } }

  /// The longest address that is taken, in bytes.
  static let pastedLimit = RedirectMailbox.limit

  /// Asks for addresses until one has the response; `nil` when no more will come.
  func answer(
    in pasted: BrowserAuthenticator.PastedAddresses, _ isExpected: @Sendable ([String: String]) -> Bool
  ) async -> Result<[String: String], IdentityError>? {
    var refusal: IdentityError?
    while let text = await pasted(refusal), !Task.isCancelled {
      do throws(IdentityError) {
        return .success(try answer(in: text, isExpected))
      } catch {
        refusal = error
      }
    }
    return nil
  }

  /// The parameters of the response in a pasted address. The error says why it is invalid, without its text.
  func answer(
    in text: String, _ isExpected: @Sendable ([String: String]) -> Bool
  ) throws(IdentityError) -> [String: String] {
    let whole =
      "Copy the whole address that the browser ended at. It begins with \(redirectURI.absoluteString)"
    func refusal(_ message: String, advice: String? = nil) -> IdentityError {
      IdentityError(.invalidResponse, message, advice: advice ?? "\(whole).")
    }
    // Not trimmed before it is known to be short.
    guard text.utf8.count <= Self.pastedLimit else { throw refusal("That is too long for an address.") }
    guard let address = URL(string: text.trimmed), address.scheme != nil else {
      throw refusal("That is not an address.")
    }
    guard address.isSamePlace(as: redirectURI) else {
      throw address.isSamePlace(as: self.address)
        ? refusal(
          "That is the page to sign in at, not the address that the browser ended at.",
          advice: "Sign in there first. \(whole).")
        : refusal("That is not the address that this sign-in ends at.")
    }
    guard let parameters = address.answer(to: redirectURI), !parameters.isEmpty else {
      throw refusal(
        "That address has no response in it, or one that cannot be read.",
        advice: "\(whole) and goes on with a question mark.")
    }
    guard isExpected(parameters) else {
      throw IdentityError(
        .invalidState, "That address belongs to another sign-in.",
        advice: "Open the page that this sign-in shows, and copy the address that it ends at.")
    }
    return parameters
  }
}
