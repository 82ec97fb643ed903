import Foundation
import TestSupport

/// A token service and a user at a browser, as far as the facade's tests need them. The tests of IdentityClient check the
/// requests in detail.
struct FakeEntra: Sendable {
  static let clientID = TestPerson.clientID

  let server = ScriptedTransport()
  let browser = ScriptedBrowser()

  init() { serve(.alice) }

  /// Signs a user in from now on.
  ///
  /// - Parameters:
  ///   - person: The user.
  ///   - scopes: The granted scopes; those of the request by default.
  ///   - page: The page that the user signed in at; the last one of ``browser`` by default.
  func serve(_ person: TestPerson, granting scopes: String? = nil, at page: URL? = nil) {
    server.script { [browser] request in
      if request.url.path.hasSuffix("/devicecode") {
        return .deviceCode(changing: ["interval": .integer(1)])
      }
      guard request.url.path.hasSuffix("/token") else { return nil }
      let nonce = page?.parameter("nonce") ?? browser.lastQuery["nonce"]
      return .json(
        person.tokens(
          at: Date(), scope: scopes ?? request.form["scope"] ?? "user.read openid profile",
          access: "made-up-access-token", refresh: "made-up-refresh-token",
          nonce: request.form["code"] == nil ? nil : nonce))
    }
  }

  /// Refuses all requests for tokens from now on.
  func refuse(_ error: String) {
    server.script { $0.url.path.hasSuffix("/token") ? .refusal(error, code: 50076) : nil }
  }

  /// Responds to no request any more.
  func goOffline() {
    server.script { _ throws(HTTPTransportError) in throw .cannotConnect("the network is down") }
  }

  /// The user closes each page from now on.
  func closePages() {
    browser.person { _ throws(IdentityError) in throw IdentityError(.userCanceled, "The browser was closed.")
    }
  }
}
