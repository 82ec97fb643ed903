import FoundationEssentials
import HTTPSupport
import HTTPTypes
import IdentityClient
import SoupTransport

/// Requests the sign-in page with a user's name, which the lab answers with a redirect, and takes the response out of that.
struct LabBrowser: WebAuthenticator {
  let userName: String
  let transport: SoupHTTPTransport

  var requiredResponseMode: ResponseMode? { .query }

  func authorize(
    startURL: @escaping @Sendable (_ redirectURI: URL) throws(IdentityError) -> URL, redirectURI: URL?,
    responseMode: ResponseMode, isExpected: @escaping @Sendable ([String: String]) -> Bool, timeout: Duration
  ) async throws(IdentityError) -> [String: String] {
    guard let redirectURI = redirectURI ?? URL(string: "http://localhost"),
      var page = URLComponents(url: try startURL(redirectURI), resolvingAgainstBaseURL: true)
    else { throw IdentityError(.invalidRedirectURI, "The redirect URI is invalid.") }
    // A page that asks for the user again would wait for a click.
    let others = (page.queryItems ?? []).filter { !["prompt", "login_hint"].contains($0.name) }
    page.queryItems = others + [URLQueryItem(name: "login_hint", value: userName)]
    guard let head = page.url.flatMap({ HTTPRequest(.get, https: $0) }) else {
      throw IdentityError(.unexpected, "The address of the lab's sign-in page is invalid.")
    }
    let response: HTTPTransportResponse
    do {
      response = try await transport.send(HTTPTransportRequest(head, timeout: timeout))
    } catch {
      throw IdentityError(.network, "The lab's sign-in page did not load: \(error).")
    }
    let location = response.head.headerFields[.location].flatMap { URL(string: $0) }
    let answer = location?.answer(to: redirectURI) ?? [:]
    guard isExpected(answer) else {
      throw IdentityError(
        .invalidResponse, "The lab did not sign \(userName) in (HTTP status \(response.head.status.code)).",
        advice: "The lab's users are alice, bob and carol.")
    }
    return answer
  }
}
