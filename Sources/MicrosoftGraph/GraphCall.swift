import FoundationEssentials
import GLibSupport
import HTTPSupport
import HTTPTypes
import IdentityClient
import TokenCache

extension GraphClient {
  /// The URL of a request, alone or in a batch.
  func url(of request: GraphRequest) throws(GraphError) -> URL {
    guard request.headers[.authorization] == nil else {
      throw GraphError(.invalidRequest, "The header field Authorization is set by the client.")
    }
    guard !request.path.contains("#") else {
      throw GraphError(
        .invalidRequest, "Invalid path: a number sign would end it.",
        advice: "Write it as %23.")
    }
    let path = request.path.lowercased()
    let isAbsolute = path.hasPrefix("https://") || path.hasPrefix("http://")
    let separator = request.path.hasPrefix("/") ? "" : "/"
    let address = isAbsolute ? request.path : cloud.baseURL.absoluteString + separator + request.path
    guard let url = URL(escaping: address) else {
      throw GraphError(.invalidRequest, "Invalid path: it cannot be part of a URL.")
    }
    return url.appending(query: request.query)
  }
}

/// One request with its repetitions and its claims challenge.
struct GraphCall {
  let client: GraphClient
  let request: GraphRequest
  /// Whether a repetition has no additional effect and the same response.
  let isRepeatable: Bool
  /// What the token is to have that answers an earlier challenge.
  var claims: ClaimsRequest?
  private let clientRequestID = UUID().uuidString.lowercased()

  func run() async throws(GraphError) -> GraphResponse {
    do throws(GraphError) {
      return try await exchange()
    } catch var error {
      error.clientRequestID = clientRequestID
      throw error
    }
  }

  private func exchange() async throws(GraphError) -> GraphResponse {
    var head = try head()
    var budget = RetryBudget(client.retries)
    let deadline = client.timing.uptime() + request.timeout + client.retries.maximumWait
    var (wasChallenged, wasLost) = (claims != nil, false)
    try await authorize(&head, claims: claims)
    while true {
      let received: HTTPTransportResponse
      do throws(HTTPTransportError) {
        received = try await client.transport.send(
          HTTPTransportRequest(
            head, body: request.body,
            timeout: max(.zero, min(request.timeout, deadline - client.timing.uptime())),
            maximumBodySize: request.maximumResponseSize))
      } catch {
        guard case .connectionLost = error, isRepeatable, !wasLost, budget.pause(0) != nil else {
          throw GraphError(error)
        }
        wasLost = true
        head.headerFields.set("Retry-Attempt", "\(budget.repetitions)")
        continue
      }
      let (status, fields) = (received.head.status.code, received.head.headerFields)
      if SuccessStatus.isResult(status, of: request.headers) {
        return GraphResponse(
          status: status, headers: fields, body: received.body,
          requestID: fields.value(of: "request-id")?.printable(limit: 200), clientRequestID: clientRequestID)
      }
      var failure = GraphError(status: status, fields: fields, body: received.body)
      // Claims are documented for both statuses.
      if status == 401 || status == 403,
        let challenge = ClaimsChallenge(wwwAuthenticate: fields[values: .wwwAuthenticate])
      {
        guard !wasChallenged else {
          failure.code = .claimsChallenge
          failure.advice = "Sign in again."
          failure.claims = challenge.claims
          throw failure
        }
        wasChallenged = true
        try await respond(to: challenge, failure, &head)
      } else {
        guard RetryBudget.mayRepeat(status: status, isRepeatable: isRepeatable),
          let pause = budget.pause(fields.secondsToWait)
        else { throw failure }
        try await client.wait(pause)
        // The token may have expired meanwhile. One that answers a challenge is new.
        if !wasChallenged { try await authorize(&head, claims: nil) }
        head.headerFields.set("Retry-Attempt", "\(budget.repetitions)")
      }
    }
  }

  private func head() throws(GraphError) -> HTTPRequest {
    guard var head = HTTPRequest(request.method, https: try client.url(of: request)) else {
      throw GraphError(.invalidRequest, "Invalid URL: expected https without a user name.")
    }
    guard let host = head.authority, client.cloud.allowedHosts.contains(host) else {
      throw GraphError(
        .hostNotAllowed,
        "\((head.authority ?? "").printable(limit: 200)) is not a host of this Microsoft Graph, so it gets no token.",
        advice: "Allowed hosts: \(client.cloud.allowedHosts.sorted().joined(separator: ", ")).")
    }
    head.headerFields = request.headers
    head.headerFields.set("client-request-id", clientRequestID)
    if request.body != nil, head.headerFields[.contentType] == nil {
      head.headerFields[.contentType] = "application/json"
    }
    return head
  }

  private func authorize(_ head: inout HTTPRequest, claims: ClaimsRequest?) async throws(GraphError) {
    let token: AuthenticationResult
    do throws(IdentityError) {
      token = try await client.tokens(claims)
    } catch {
      throw GraphError(error)
    }
    guard !token.accessToken.isEmpty else {
      throw GraphError(
        .authentication, "The sign-in returned no access token.",
        advice: "Request a scope of Microsoft Graph, such as User.Read.")
    }
    try client.cloud.check(token)
    head.headerFields[.authorization] = token.authorizationHeader
  }

  private func respond(
    to challenge: ClaimsChallenge, _ failure: GraphError, _ head: inout HTTPRequest
  ) async throws(GraphError) {
    guard let claims = try? ClaimsRequest(json: challenge.claims) else {
      throw failure
    }
    do throws(GraphError) {
      try await authorize(&head, claims: claims)
    } catch var error {
      error.requestID = failure.requestID
      error.httpStatus = failure.httpStatus
      if error.identityError?.claims == nil { error.identityError?.claims = challenge.claims }
      throw error
    }
  }
}

extension GraphClient {
  func wait(_ pause: Duration) async throws(GraphError) {
    do {
      try await timing.sleep(pause)
    } catch {
      throw .cancelled
    }
  }
}
