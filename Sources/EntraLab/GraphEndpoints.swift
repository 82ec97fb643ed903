import FoundationEssentials

private struct GraphFailure: Error {
  let status: Int
  let code: String
  let message: String
  var challenge: String?

  static func badRequest(_ message: String, code: String = "BadRequest") -> GraphFailure {
    GraphFailure(status: 400, code: code, message: message)
  }
}

/// A small Microsoft Graph.
extension LabState {
  private static let contentType =
    "application/json;odata.metadata=minimal;odata.streaming=true;IEEE754Compatible=false;charset=utf-8"

  mutating func graph(_ request: LabRequest) -> LabReply {
    let requestID = randomIdentifier()
    let correlation = request.headers["client-request-id"].flatMap { isPlain($0) ? $0 : nil } ?? requestID
    var reply: LabReply
    do {
      let token = try authenticate(request)
      let path = request.path.split(separator: "/").dropFirst()
      if path == ["$batch"] {
        reply = try batch(request, token)
      } else {
        reply = try resource(
          method: request.method, path: Array(path), query: request.query, base: request.base, token)
      }
    } catch {
      reply = errorReply(error, requestID: requestID, correlation: correlation)
    }
    reply.headers["request-id"] = requestID
    reply.headers["client-request-id"] = correlation
    reply.headers["OData-Version"] = "4.0"
    return reply
  }

  func userInfo(_ request: LabRequest) -> LabReply {
    do {
      let token = try authenticate(request)
      return LabReply(
        json: [
          "sub": subject(of: token.signIn, in: token.tenant), "name": token.signIn.user.displayName,
          "email": token.signIn.user.userPrincipalName,
        ])
    } catch {
      return errorReply(error)
    }
  }

  private func authenticate(_ request: LabRequest) throws(GraphFailure) -> AccessToken {
    let header = request.headers["authorization"] ?? ""
    guard header.lowercased().hasPrefix("bearer "), header.count > 7 else {
      throw unauthorized("Access token is empty.")
    }
    guard let token = accessTokens[String(header.dropFirst(7))] else {
      throw unauthorized("CompactToken parsing failed with error code: 80049217")
    }
    guard token.scopes.audience == ScopeRequest.graphAudience else {
      throw unauthorized("Access token validation failure. Invalid audience.")
    }
    guard token.keyID == nil else {
      throw unauthorized("Access token validation failure. The token is bound to a key.")
    }
    guard now < token.expires else {
      throw unauthorized("Lifetime validation failed, the token is expired.")
    }
    let account = account(of: token.signIn.user)
    if token.isContinuouslyEvaluated, account.revocations != token.signIn.revocations {
      let time = Int((account.revokedAt ?? now).timeIntervalSince1970)
      let claims = #"{"access_token":{"nbf":{"essential":true,"value":"\#(time)"}}}"#
      let encoded = Data(claims.utf8).base64EncodedString()
      var failure = unauthorized(
        "Continuous access evaluation resulted in challenge with result: InteractionRequired and code: "
          + "TokenIssuedBeforeRevocationTimestamp")
      failure.challenge =
        "Bearer realm=\"\", authorization_uri=\"\(request.base)/common/oauth2/authorize\", "
        + "client_id=\"\(ScopeRequest.graphAudience)\", error=\"insufficient_claims\", claims=\"\(encoded)\""
      throw failure
    }
    return token
  }

  private func unauthorized(_ message: String) -> GraphFailure {
    GraphFailure(
      status: 401, code: "InvalidAuthenticationToken", message: message, challenge: "Bearer realm=\"\"")
  }

  private func errorReply(
    _ failure: GraphFailure, requestID: String = randomIdentifier(), correlation: String = randomIdentifier()
  ) -> LabReply {
    let inner: JSON = [
      "date": .string(String(now.formatted(.iso8601).dropLast())), "request-id": .string(requestID),
      "client-request-id": .string(correlation),
    ]
    let body: JSON = [
      "error": ["code": .string(failure.code), "message": .string(failure.message), "innerError": inner]
    ]
    var reply = LabReply(status: failure.status, contentType: Self.contentType, body: encodeJSON(body))
    reply.headers["WWW-Authenticate"] = failure.challenge
    return reply
  }

  private func resource(
    method: String, path: [Substring], query: Parameters, base: String, _ token: AccessToken
  ) throws(GraphFailure) -> LabReply {
    let user = token.signIn.user
    switch (method, path) {
    case ("GET", ["me"]):
      try require(["User.Read", "User.ReadWrite", "User.Read.All"], token)
      return try me(user, token.tenant, select: query["$select"], base)
    case ("PATCH", ["me"]):
      try require(["User.ReadWrite"], token)
      return LabReply(status: 204, contentType: Self.contentType, body: [])
    case ("GET", ["me", "photo", "$value"]):
      try require(["User.Read", "User.ReadWrite"], token)
      guard user.name == "alice" else {
        throw GraphFailure(status: 404, code: "ImageNotFound", message: "The photo wasn't found.")
      }
      return LabReply(contentType: "image/png", body: Self.photo)
    case ("GET", ["users"]):
      try require(["User.ReadBasic.All", "User.Read.All", "Directory.Read.All"], token)
      return try users(query, base)
    case (_, ["me"]), (_, ["users"]), (_, ["me", "photo", "$value"]):
      throw GraphFailure(
        status: 405, code: "Request_BadRequest", message: "Specified HTTP method is not allowed.")
    default:
      let name = path.first.map(String.init) ?? ""
      throw .badRequest("Resource not found for the segment '\(name)'.")
    }
  }

  private func require(_ scopes: [String], _ token: AccessToken) throws(GraphFailure) {
    guard token.scopes.contains(anyOf: scopes) || token.scopes.names.isEmpty && scopes.contains("User.Read")
    else {
      throw GraphFailure(
        status: 403, code: "Authorization_RequestDenied",
        message: "Insufficient privileges to complete the operation.")
    }
  }

  private func me(
    _ user: LabUser, _ tenant: String, select: String?, _ base: String
  ) throws(GraphFailure) -> LabReply {
    let name = user.displayName.split(separator: " ").map(String.init)
    let all: [String: JSON] = [
      "id": .string(user.objectID(in: tenant) ?? user.objectID), "displayName": .string(user.displayName),
      "givenName": .string(name.first ?? ""), "surname": .string(name.last ?? ""),
      "userPrincipalName": .string(user.userPrincipalName), "mail": .string(user.userPrincipalName),
      "jobTitle": nil, "mobilePhone": nil, "officeLocation": nil, "preferredLanguage": nil,
      "businessPhones": [],
    ]
    var context = "\(base)/v1.0/$metadata#users"
    var shown = all
    if let select {
      let names = select.split(separator: ",").map { String($0.filter { $0 != " " }) }
      if let unknown = names.first(where: { all[$0] == nil }) {
        throw .badRequest(
          "Parsing OData Select and Expand failed: Could not find a property named '\(unknown)'.")
      }
      context += "(\(names.joined(separator: ",")))"
      shown = all.filter { names.contains($0.key) }
    }
    shown["@odata.context"] = .string(context + "/$entity")
    return graphReply(shown)
  }

  /// 45 users, by pages.
  private func users(_ query: Parameters, _ base: String) throws(GraphFailure) -> LabReply {
    let top = Int(query["$top"] ?? "20") ?? 0
    let start = Int(query["$skiptoken"] ?? "0") ?? -1
    guard (1...999).contains(top), (0..<45).contains(start) else {
      throw .badRequest("Invalid page.", code: "Request_BadRequest")
    }
    let end = min(start + top, 45)
    let page: [JSON] = (start..<end).map { number in
      ["id": "00000000-0000-4000-8000-\(100_000_000_000 + number)", "displayName": "Person \(number + 1)"]
    }
    var body: [String: JSON] = ["@odata.context": "\(base)/v1.0/$metadata#users", "value": .array(page)]
    if end < 45 { body["@odata.nextLink"] = "\(base)/v1.0/users?$top=\(top)&$skiptoken=\(end)" }
    return graphReply(body)
  }

  private func graphReply(_ body: [String: JSON]) -> LabReply {
    LabReply(contentType: Self.contentType, body: encodeJSON(body))
  }

  private struct Batch: Decodable {
    struct Item: Decodable {
      let id: String
      let method: String
      let url: String
      let dependsOn: [String]?
    }
    let requests: [Item]
  }

  /// JSON batching. The responses are in the reverse order.
  private mutating func batch(_ request: LabRequest, _ token: AccessToken) throws(GraphFailure) -> LabReply {
    guard request.method == "POST", let batch: Batch = try? decodeJSON(request.body) else {
      throw .badRequest("Invalid batch payload format.")
    }
    guard (1...20).contains(batch.requests.count) else {
      throw .badRequest("Number of batch request steps exceeds the maximum value of 20.")
    }
    var failed: Set<String> = []
    var responses: [JSON] = []
    for item in batch.requests {
      let reply: LabReply
      if item.dependsOn?.contains(where: failed.contains) == true {
        reply = errorReply(
          GraphFailure(status: 424, code: "FailedDependency", message: "Failed Dependency"))
      } else {
        reply =
          takeFault(for: .batchItem)?.reply { self.response(to: item, base: request.base, token) }
          ?? self.response(to: item, base: request.base, token)
      }
      if reply.status >= 400 { failed.insert(item.id) }
      var response: [String: JSON] = [
        "id": .string(item.id), "status": .integer(reply.status),
        "headers": .object(reply.headers.mapValues(JSON.string)),
      ]
      if !reply.body.isEmpty {
        response["body"] =
          (try? decodeJSON(reply.body)) ?? JSON.string(Data(reply.body).base64EncodedString())
      }
      responses.append(.object(response))
    }
    return LabReply(json: ["responses": JSON.array(responses.reversed())])
  }

  private func response(to item: Batch.Item, base: String, _ token: AccessToken) -> LabReply {
    let parts = item.url.split(separator: "?", maxSplits: 1)
    do throws(GraphFailure) {
      return try resource(
        method: item.method.uppercased(), path: parts.first?.split(separator: "/") ?? [],
        query: Parameters(parts.count > 1 ? String(parts[1]) : ""), base: base, token)
    } catch {
      return errorReply(error)
    }
  }

  private static let photo: [UInt8] = Array(
    Data(
      base64Encoded:
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    ) ?? Data())
}
