import FoundationEssentials
import HTTPSupport
import HTTPTypes
import IdentityClient
import TokenCache

/// Sends the requests of a batch, in as many parts as needed.
struct BatchRun {
  private static let maximumCount = 20

  private let client: GraphClient
  private let requests: [GraphBatchRequest]
  /// What is sent of each request, by id, without the dependencies.
  private let members: [String: JSONObject]
  private var responses: [String: GraphBatchResponse] = [:]
  /// What is left of the policy for each request that was repeated, by id.
  private var budgets: [String: RetryBudget] = [:]
  /// The claims that the token of the next part has to have.
  private var claims: ClaimsRequest?
  /// The challenges that were answered, by id.
  private var challenged: [String: (response: GraphBatchResponse, claims: ClaimsRequest)] = [:]

  init(client: GraphClient, requests: [GraphBatchRequest]) throws(GraphError) {
    self.client = client
    self.requests = requests
    var members: [String: JSONObject] = [:]
    for item in requests {
      guard !item.id.isEmpty, members[item.id] == nil else {
        throw GraphError(.invalidRequest, "Invalid batch: every request needs a unique id.")
      }
      guard item.dependsOn.allSatisfy({ members[$0] != nil }) else {
        throw GraphError(
          .invalidRequest, "Invalid batch: a request can only depend on earlier ones.")
      }
      members[item.id] = try Self.members(of: item, client)
    }
    self.members = members
  }

  mutating func run() async throws(GraphError) -> [GraphBatchResponse] {
    while true {
      let part = nextPart()
      guard !part.isEmpty else { break }
      do throws(GraphError) {
        if let pause = try take(await send(part), to: part) { try await client.wait(pause) }
      } catch {
        if let asked = claims, error.code == .authentication {
          // The others need no such token.
          var error = error
          if error.identityError?.claims == nil { error.identityError?.claims = try? asked.json() }
          for (id, var challenge) in challenged where responses[id] == nil {
            if challenge.claims == asked {
              challenge.response.error = error
              responses[id] = challenge.response
            } else {
              challenged[id] = nil
            }
          }
          claims = nil
          continue
        }
        guard !responses.isEmpty, error.code != .cancelled else { throw error }
        for item in requests where responses[item.id] == nil {
          responses[item.id] = GraphBatchResponse(
            id: item.id, status: nil, headers: [:], body: nil, error: error)
        }
      }
    }
    return requests.compactMap { responses[$0.id] }
  }

  private static func members(
    of item: GraphBatchRequest, _ client: GraphClient
  ) throws(GraphError) -> JSONObject {
    var members: JSONObject = [
      "id": .string(item.id), "method": .string(item.request.method.rawValue),
      "url": .string(try path(of: item.request, client)),
    ]
    var fields = item.request.headers
    if let body = item.request.body {
      let type = fields[.contentType] ?? "application/json"
      fields[.contentType] = type
      if type.lowercased().hasPrefix("application/json") {
        guard let json = try? decodeGraphJSON(JSONValue.self, from: body) else {
          throw GraphError(.invalidRequest, "The body of the request \(item.id) is not valid JSON.")
        }
        members["body"] = json
      } else {
        members["body"] = .string(body.base64EncodedString())
      }
    }
    let pairs = fields.map { ($0.name.rawName, $0.value) }
    let headers = Dictionary(pairs) { "\($0), \($1)" }
    if !headers.isEmpty { members["headers"] = .object(headers.mapValues(JSONValue.string)) }
    return members
  }

  /// The path after the version, as it is sent.
  private static func path(
    of request: GraphRequest, _ client: GraphClient
  ) throws(GraphError) -> String {
    guard request.path.hasPrefix("/"), let path = HTTPRequest(.get, https: try client.url(of: request))?.path
    else {
      throw GraphError(.invalidRequest, "Invalid batch: a path begins with a slash, after the version.")
    }
    return String(path.dropFirst(client.cloud.baseURL.path(percentEncoded: true).count))
  }

  /// The next requests that can be sent together. Requests that depend on a failed one get their response here.
  private mutating func nextPart() -> [GraphBatchRequest] {
    var part: [GraphBatchRequest] = []
    for var item in requests where responses[item.id] == nil && part.count < Self.maximumCount {
      if item.dependsOn.contains(where: { responses[$0]?.error != nil }) {
        responses[item.id] = Self.failedDependency(of: item)
      } else {
        // The others are in this part, since they are earlier.
        item.dependsOn.removeAll { responses[$0] != nil }
        part.append(item)
      }
    }
    return part
  }

  private func send(_ part: [GraphBatchRequest]) async throws(GraphError) -> GraphResponse {
    let items = part.compactMap { item in
      members[item.id].map { members in
        guard !item.dependsOn.isEmpty else { return members }
        return members.merging(["dependsOn": .array(item.dependsOn.map(JSONValue.string))]) { $1 }
      }
    }
    guard let body = try? JSONEncoder().encode(["requests": items]) else {
      throw GraphError(.invalidRequest, "Invalid batch: a number cannot be written as JSON.")
    }
    var request = GraphRequest("/$batch", method: .post, body: body)
    request.maximumResponseSize = part.reduce(request.maximumResponseSize) { sum, item in
      let (size, isOver) = sum.addingReportingOverflow(item.request.maximumResponseSize)
      return isOver ? .max : size
    }
    request.timeout = part.map(\.request.timeout).max() ?? request.timeout
    let isRepeatable = part.allSatisfy { $0.request.isRepeatable }
    return try await GraphCall(client: client, request: request, isRepeatable: isRepeatable, claims: claims)
      .run()
  }

  /// Keeps the final responses, and returns the pause before the others are sent again; `nil` if there are no others.
  private mutating func take(
    _ response: GraphResponse, to part: [GraphBatchRequest]
  ) throws(GraphError) -> Duration? {
    guard let list = try response.json().objectValue?["responses"]?.arrayValue else {
      throw response.failure(.invalidResponse, "Graph's response is not that to a batch.")
    }
    let pairs = list.compactMap { $0.objectValue }.compactMap { members in
      members["id"]?.stringValue.map { ($0, members) }
    }
    let byID = Dictionary(pairs) { first, _ in first }
    var received = part.map { Self.response(to: $0, byID[$0.id]) }

    var pause: Duration?
    var again: Set<String> = []
    let answered = claims
    claims = nil
    // Claims may be asked for one operation, which was not carried out then.
    for (index, response) in received.enumerated() where response.status == 401 || response.status == 403 {
      guard let challenge = ClaimsChallenge(wwwAuthenticate: response.headers[values: .wwwAuthenticate]),
        let asked = try? ClaimsRequest(json: challenge.claims)
      else { continue }
      guard challenged[response.id] == nil else {
        received[index].error?.code = .claimsChallenge
        received[index].error?.advice = "Sign in again."
        received[index].error?.claims = challenge.claims
        continue
      }
      // One with other claims is challenged again.
      if claims == nil || claims == asked { challenged[response.id] = (response, asked) }
      claims = claims ?? asked
      again.insert(response.id)
      pause = .zero
    }
    for (item, response) in zip(part, received)
    where RetryBudget.mayRepeat(status: response.status, isRepeatable: item.request.isRepeatable) {
      var budget = budgets[item.id] ?? RetryBudget(client.retries)
      guard let own = budget.pause(response.headers.secondsToWait) else { continue }
      budgets[item.id] = budget
      again.insert(item.id)
      pause = max(pause ?? .zero, own)
    }
    // One that was challenged before and is throttled now.
    if claims == nil, again.contains(where: { challenged[$0] != nil }) { claims = answered }
    for (item, response) in zip(part, received) where !again.contains(item.id) {
      if response.status == 424, item.dependsOn.contains(where: again.contains) {
        again.insert(item.id)
      } else {
        responses[item.id] = response
      }
    }
    return pause
  }

  private static func response(to item: GraphBatchRequest, _ members: JSONObject?) -> GraphBatchResponse {
    guard let status = members?["status"]?.numberValue.flatMap({ Int(exactly: $0) }) else {
      return GraphBatchResponse(
        id: item.id, status: nil, headers: [:], body: nil,
        error: GraphError(.invalidResponse, "Graph did not respond to this request of the batch."))
    }
    var fields = HTTPFields()
    for (name, value) in members?["headers"]?.objectValue ?? [:] {
      fields.set(name, value.stringValue ?? value.numberValue.map { "\($0)" } ?? "")
    }
    let body = members?["body"]
    // Graph redirects to a file's content.
    let isSuccess =
      status == 302 || SuccessStatus.isResult(status, of: item.request.headers)
    // What is not JSON is Base64 here.
    let sent =
      body?.stringValue.flatMap { Data(base64Encoded: $0) } ?? body.flatMap { try? JSONEncoder().encode($0) }
    return GraphBatchResponse(
      id: item.id, status: status, headers: fields, body: body,
      error: isSuccess ? nil : GraphError(status: status, fields: fields, body: sent ?? Data()))
  }

  private static func failedDependency(of item: GraphBatchRequest) -> GraphBatchResponse {
    let error: JSONObject = [
      "code": "FailedDependency", "message": "A request that this one depends on failed.",
    ]
    return response(to: item, ["status": .integer(424), "body": .object(["error": .object(error)])])
  }
}
