import HTTPListener
import HTTPSupport
import IdentityClient

/// Decides what a request to the listener is. Knows no sockets and keeps no state.
struct RedirectRules: Sendable {
  /// In bytes.
  static let maximumBodySize = 64 << 10

  enum Verdict {
    /// The expected response, if no other one was accepted before.
    case answer([String: String])
    /// A response of another sign-in.
    case unexpected
    /// The address that redirects the browser to the page.
    case launch
    /// The page after the query mode's redirect.
    case landing
    case refused(Page)
  }

  let port: UInt16
  let path: String
  let mode: ResponseMode
  /// Where the browser begins. It cannot be guessed.
  let launchPath = "/" + randomToken()
  let isExpected: @Sendable ([String: String]) -> Bool

  /// Where the query mode sends the browser, so that the code leaves its address bar and history.
  var landingPath: String { (path.hasSuffix("/") ? path : path + "/") + "complete" }

  func verdict(_ request: ListenerRequest) -> Verdict {
    if let refusal = checkSender(request) { return .refused(refusal) }
    if mode == .query, request.path == landingPath, request.method == "GET" { return .landing }
    if request.path == launchPath, request.method == "GET" { return .launch }
    guard request.path == path else { return .refused(.nothingHere) }
    if let refusal = checkMethod(request) { return .refused(refusal) }
    let text = mode == .formPost ? request.body : Array((request.query ?? "").utf8)
    guard let parameters = text.flatMap({ FormEncoding.decode($0) }), !parameters.isEmpty else {
      return .refused(.refusal(400, .unreadable))
    }
    return isExpected(parameters) ? .answer(parameters) : .unexpected
  }

  private func checkSender(_ request: ListenerRequest) -> Page? {
    guard request.isForLoopback(port: port) else {
      return .refusal(400, .wrongAddress)
    }
    if request.headerSize > ListenerRequest.maximumHeaderSize {
      return .refusal(431, .requestTooLarge)
    }
    // A script of a page may send requests here, but cannot make them look like a navigation (W3C Fetch Metadata).
    if let mode = request.fields["sec-fetch-mode"], mode != "navigate" {
      return .refusal(403, .onlyBrowser)
    }
    return nil
  }

  private func checkMethod(_ request: ListenerRequest) -> Page? {
    let method = mode == .formPost ? "POST" : "GET"
    guard request.method == method else {
      return .refusal(
        405,
        mode == .formPost
          ? .mustBeForm
          : .mustBeInAddress,
        fields: [("Allow", method)])
    }
    guard mode == .formPost else { return nil }
    if request.body == nil { return .refusal(413, .responseTooLarge) }
    let type = request.fields["content-type"]?.prefix { $0 != ";" }
    guard type?.lowercased().filter({ $0 != " " }) == "application/x-www-form-urlencoded" else {
      return .refusal(415, .noForm)
    }
    return nil
  }
}
