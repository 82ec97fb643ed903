import FoundationEssentials

extension LabError {
  fileprivate static func badRequest(_ message: String, code: String = "BadRequest") -> LabError {
    LabError(status: 400, code: code, message: message)
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

  private func authenticate(_ request: LabRequest) throws(LabError) -> AccessToken {
    let header = request.headers["authorization"] ?? ""
    guard header.lowercased().hasPrefix("bearer ") else {
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
    if token.claims.isContinuouslyEvaluated, account.revocations != token.signIn.revocations {
      let time = Int((account.revokedAt ?? now).timeIntervalSince1970)
      throw challenge(
        "Continuous access evaluation resulted in challenge with result: InteractionRequired and code: "
          + "TokenIssuedBeforeRevocationTimestamp",
        claims: ["nbf": ["essential": true, "value": "\(time)"]], base: request.base)
    }
    guard settings.requiredClaims.allSatisfy({ token.claims.accessToken[$0.key] == $0.value }) else {
      throw challenge("The token lacks required claims.", claims: settings.requiredClaims, base: request.base)
    }
    return token
  }

  private func challenge(_ message: String, claims: [String: JSON], base: String) -> LabError {
    let encoded = Data(encodeJSON(["access_token": claims])).base64EncodedString()
    var failure = unauthorized(message)
    failure.challenge =
      "Bearer realm=\"\", authorization_uri=\"\(base)/common/oauth2/authorize\", "
      + "client_id=\"\(ScopeRequest.graphAudience)\", error=\"insufficient_claims\", claims=\"\(encoded)\""
    return failure
  }

  private func unauthorized(_ message: String) -> LabError {
    LabError(
      status: 401, code: "InvalidAuthenticationToken", message: message, challenge: "Bearer realm=\"\"")
  }

  private func errorReply(
    _ failure: LabError, requestID: String = randomIdentifier(),
    correlation: String = randomIdentifier()
  ) -> LabReply {
    let inner: JSON = [
      "date": .string(String(now.formatted(.iso8601).dropLast())), "request-id": .string(requestID),
      "client-request-id": .string(correlation),
    ]
    let body: JSON = [
      "error": ["code": .string(failure.error), "message": .string(failure.text), "innerError": inner]
    ]
    var reply = LabReply(status: failure.status, contentType: Self.contentType, body: encodeJSON(body))
    reply.headers["WWW-Authenticate"] = failure.challenge
    return reply
  }

  private func resource(
    method: String, path: [Substring], query: Parameters, base: String, _ token: AccessToken
  ) throws(LabError) -> LabReply {
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
        throw LabError(status: 404, code: "ImageNotFound", message: "The photo wasn't found.")
      }
      return LabReply(contentType: "image/png", body: Self.photo)
    case ("GET", ["users"]):
      try require(["User.ReadBasic.All", "User.Read.All", "Directory.Read.All"], token)
      return try users(query, base)
    case ("GET", ["me", "messages"]):
      try require(["Mail.Read", "Mail.ReadWrite", "Mail.ReadBasic"], token)
      return try messages(query, base)
    case (_, ["me"]), (_, ["users"]), (_, ["me", "messages"]), (_, ["me", "photo", "$value"]):
      throw LabError(
        status: 405, code: "Request_BadRequest", message: "Specified HTTP method is not allowed.")
    default:
      let name = path.first.map(String.init) ?? ""
      throw .badRequest("Resource not found for the segment '\(name)'.")
    }
  }

  private func require(_ scopes: [String], _ token: AccessToken) throws(LabError) {
    guard token.scopes.contains(anyOf: scopes) || token.scopes.names.isEmpty && scopes.contains("User.Read")
    else {
      throw LabError(
        status: 403, code: "Authorization_RequestDenied",
        message: "Insufficient privileges to complete the operation.")
    }
  }

  private func me(
    _ user: LabUser, _ tenant: String, select: String?, _ base: String
  ) throws(LabError) -> LabReply {
    let name = user.displayName.split(separator: " ").map(String.init)
    let all: [String: JSON] = [
      "id": .string(user.objectID(in: tenant) ?? user.objectID), "displayName": .string(user.displayName),
      "givenName": .string(name.first ?? ""), "surname": .string(name.last ?? ""),
      "userPrincipalName": .string(user.userPrincipalName), "mail": .string(user.userPrincipalName),
      "jobTitle": nil, "mobilePhone": nil, "officeLocation": nil, "preferredLanguage": nil,
      "businessPhones": [],
    ]
    var shown = try selected(select, of: all)
    let names = select.map { "(\($0.filter { $0 != " " }))" } ?? ""
    shown["@odata.context"] = "\(base)/v1.0/$metadata#users\(names)/$entity"
    return graphReply(shown)
  }

  /// The properties that `$select` names; all without it.
  private func selected(
    _ select: String?, of all: [String: JSON]
  ) throws(LabError) -> [String: JSON] {
    guard let select else { return all }
    let names = select.split(separator: ",").map { String($0.filter { $0 != " " }) }
    if let unknown = names.first(where: { all[$0] == nil }) {
      throw .badRequest(
        "Parsing OData Select and Expand failed: Could not find a property named '\(unknown)'.")
    }
    return all.filter { names.contains($0.key) }
  }

  /// 45 users, by pages of 20.
  private func users(_ query: Parameters, _ base: String) throws(LabError) -> LabReply {
    let all = (0..<45).map { number -> [String: JSON] in
      ["id": "00000000-0000-4000-8000-\(100_000_000_000 + number)", "displayName": "Person \(number + 1)"]
    }
    return try page(of: all, at: "users", query, top: 20, skip: "$skiptoken", base)
  }

  /// 25 messages, the newest first, by pages of 10.
  private func messages(_ query: Parameters, _ base: String) throws(LabError) -> LabReply {
    let all = (0..<25).map { number -> [String: JSON] in
      [
        "id": "message-\(25 - number)", "subject": "Message \(25 - number)",
        "bodyPreview": "This is message \(25 - number).", "isRead": .bool(number > 2),
        "receivedDateTime": "2026-01-15T09:\(59 - number):00Z",
        "from": ["emailAddress": ["name": "Bob Brown", "address": "bob@contoso.test"]],
      ]
    }
    var shown: [[String: JSON]] = []
    for message in all {
      shown.append(try selected(query["$select"], of: message).merging(["id": message["id"] ?? nil]) { $1 })
    }
    return try page(of: shown, at: "me/messages", query, top: 10, skip: "$skip", base)
  }

  /// One page of a list, whose link to the next one has the other parameters of the query.
  private func page(
    of all: [[String: JSON]], at path: String, _ query: Parameters, top: Int, skip: String, _ base: String
  ) throws(LabError) -> LabReply {
    let top = Int(query["$top"] ?? "\(top)") ?? 0
    let start = Int(query[skip] ?? "0") ?? -1
    guard (1...999).contains(top), (0...all.count).contains(start) else {
      throw .badRequest("Invalid page.", code: "Request_BadRequest")
    }
    let rest = all.dropFirst(start)
    var body: [String: JSON] = [
      "@odata.context": "\(base)/v1.0/$metadata#\(path)",
      "value": .array(rest.prefix(top).map(JSON.object)),
    ]
    if rest.count > top {
      let next = query.dictionary.merging(["$top": "\(top)", skip: "\(start + top)"]) { $1 }
      let parameters = next.sorted { $0.key < $1.key }.map { "\($0)=\(percentEncode($1))" }
      body["@odata.nextLink"] = "\(base)/v1.0/\(path)?\(parameters.joined(separator: "&"))"
    }
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
  private mutating func batch(_ request: LabRequest, _ token: AccessToken) throws(LabError) -> LabReply {
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
          LabError(status: 424, code: "FailedDependency", message: "Failed Dependency"))
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
    do {
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
