import FoundationEssentials
import GLibSupport
import HTTPListener
import HTTPSupport
import IdentityClient
import TokenCache

/// Decides what a lender does with a request. Knows no sockets and keeps no state.
struct LendingRules: Sendable {
  let loan: Loan
  /// The secret that a request must have; `nil` for none.
  let secret: String?
  /// The port that is listened on; `nil` for a socket.
  let port: UInt16?
  let isOpenToAnyUser: Bool

  enum Verdict: Equatable, Sendable {
    case loan
    case token(TokenQuery)
    case refused(LoanRefusal)
  }

  func verdict(_ request: ListenerRequest, _ peer: SocketPeer?) -> Verdict {
    do throws(LoanRefusal) {
      try checkSender(request, peer)
      guard LoanProtocol.paths.contains(request.path) else {
        throw LoanRefusal(.invalidRequest, "Path not found: expected /token or /loan.", statusCode: 404)
      }
      guard request.method == "GET" else {
        throw LoanRefusal(.invalidRequest, "Invalid method: expected GET.", statusCode: 405)
      }
      return request.path == LoanProtocol.loanPath ? .loan : .token(try tokenQuery(request.query ?? ""))
    } catch {
      return .refused(error)
    }
  }

  private func checkSender(_ request: ListenerRequest, _ peer: SocketPeer?) throws(LoanRefusal) {
    if let peer, !peer.isOwn, !isOpenToAnyUser {
      throw LoanRefusal(.accessDenied, "The loan is for another user of this machine.")
    }
    guard request.isForLoopback(port: port) else {
      throw LoanRefusal(.accessDenied, "Invalid host in the request.")
    }
    guard !request.fields.keys.contains(where: { $0 == "origin" || $0.hasPrefix("sec-fetch-") }) else {
      throw LoanRefusal(.accessDenied, "Web pages may not borrow tokens.")
    }
    if request.headerSize > ListenerRequest.maximumHeaderSize {
      throw LoanRefusal(.invalidRequest, "The request is too large.", statusCode: 431)
    }
    guard let secret else { return }
    let given = request.fields[LoanProtocol.secretHeader.lowercased()] ?? ""
    guard isEqualInConstantTime(given, secret) else {
      throw LoanRefusal(.invalidClient, "\(LoanProtocol.secretHeader) is missing or wrong.")
    }
  }

  private func tokenQuery(_ query: String) throws(LoanRefusal) -> TokenQuery {
    let values = try parameters(query)
    guard values[.apiVersion] == LoanProtocol.apiVersion else {
      throw LoanRefusal(.invalidRequest, "api-version must be \(LoanProtocol.apiVersion).")
    }
    let requested: [String]
    switch (values[.resource], values[.scope]) {
    case (let resource?, nil): requested = [resource + "/.default"]
    case (nil, let text?): requested = ScopeSet.list(text)
    default: throw LoanRefusal(.invalidRequest, "Invalid request: expected a resource or scopes, not both.")
    }
    guard let scopes = loan.scopes(for: requested) else {
      let lent = loan.scopes.map { $0.joined(separator: " ") }.joined(separator: "; ")
      throw LoanRefusal(.invalidScope, "Scope not offered by the lender. Offered: \(lent).")
    }
    var query = TokenQuery(scopes: scopes)
    if let identity = values[.clientID], !loan.matches(identity) {
      throw LoanRefusal(.unauthorizedClient, "client_id is not the client or account of this loan.")
    }
    if let seconds = values[.minimumValidity] {
      guard seconds.utf8.count <= 6, let number = UInt32(seconds) else {
        throw LoanRefusal(.invalidRequest, "min_validity must be a number of seconds of at most six digits.")
      }
      query.minimumValidity = Double(number)
    }
    if let hash = values[.refusedToken] {
      guard hash.utf8.count == 64, hash.allSatisfy(\.isHexDigit) else {
        throw LoanRefusal(
          .invalidRequest, "\(LoanProtocol.Parameter.refusedToken.rawValue) must be 64 hexadecimal digits.")
      }
      query.refusedHash = hash.lowercased()
    }
    return query
  }

  /// An unknown parameter is refused: the borrower might assume that it had an effect. Several scopes are joined.
  private func parameters(_ query: String) throws(LoanRefusal) -> [LoanProtocol.Parameter: String] {
    var values: [LoanProtocol.Parameter: String] = [:]
    for pair in query.utf8.split(separator: UInt8(ascii: "&")) {
      let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = FormEncoding.decodeOne(parts[0]), parts.count == 2,
        let value = FormEncoding.decodeOne(parts[1]), !value.isEmpty
      else { throw LoanRefusal(.invalidRequest, "Invalid query: expected name=value pairs in UTF-8.") }
      guard let parameter = LoanProtocol.Parameter(rawValue: name) else {
        throw LoanRefusal(.invalidRequest, "Unknown parameter in the query.")
      }
      guard values[parameter] == nil || parameter == .scope else {
        throw LoanRefusal(.invalidRequest, "The parameter \(name) occurs twice.")
      }
      values[parameter] = [values[parameter], value].compactMap(\.self).joined(separator: " ")
    }
    return values
  }
}

/// A borrower's request for a token.
struct TokenQuery: Equatable, Sendable {
  /// In the loan's own words.
  let scopes: [String]
  /// In seconds.
  var minimumValidity = 0.0
  /// The hash of the token that a resource refused, in lower case.
  var refusedHash: String?
}
