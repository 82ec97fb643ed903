@testable import BrowserSignIn
import FoundationEssentials
@testable import HTTPListener
import IdentityClient

/// A request to the listener is refused, or it is an answer with this sign-in's state and sent by a browser.
///
/// Input: the parts of a request, each on a line: mode, method, host, path and query, header fields, and after
/// an empty line the body.
@Sendable func fuzzRedirect(_ input: Data) {
  var rest = input[...]
  func line() -> String {
    let line = rest.prefix { $0 != UInt8(ascii: "\n") }
    rest = rest.dropFirst(line.count + 1)
    return String(decoding: line, as: UTF8.self)
  }
  let mode: ResponseMode = line() == "query" ? .query : .formPost
  let rules = RedirectRules(port: 8400, path: "/", mode: mode) { $0["state"] == "expected" }
  let method = line()
  let target = line().split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
  var fields: [String: String] = [:]
  while !rest.isEmpty {
    let field = line()
    if field.isEmpty { break }
    let parts = field.split(separator: ":", maxSplits: 1).map(String.init)
    if parts.count == 2 { fields[parts[0].lowercased()] = parts[1] }
  }
  let host = fields["host"].map { $0.split(separator: ":").first.map(String.init) ?? "" } ?? ""
  let body = Array(rest)
  let request = ListenerRequest(
    method: method, targetHost: host, path: target.first ?? "", query: target.count > 1 ? target[1] : nil,
    fields: fields, body: body.count > RedirectRules.maximumBodySize ? nil : body)
  switch rules.verdict(request) {
  case .answer(let parameters):
    require(parameters["state"] == "expected", "An answer with another state.")
    require(
      ["localhost:8400", "127.0.0.1:8400", "[::1]:8400"].contains(fields["host"]?.lowercased()),
      "A strange host.")
    require(fields["sec-fetch-mode"] ?? "navigate" == "navigate", "A script's request.")
    require(method == (mode == .query ? "GET" : "POST"), "A strange method.")
  case .launch: require(method == "GET" && request.path == rules.launchPath, "A launch of another address.")
  case .unexpected, .landing: break
  case .refused(let answer): require((400..<500).contains(answer.status), "A refusal with \(answer.status).")
  }
}
