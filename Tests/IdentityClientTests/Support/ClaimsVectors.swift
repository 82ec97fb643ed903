import Foundation
import TestSupport

@testable import IdentityClient

/// Checks Microsoft's test values for claims requests.
enum ClaimsVectors {
  static func check(_ row: VectorRow) throws {
    let fields = try row.understood([
      "additionalInfo_objc", "capabilities", "claim", "developerClaims", "expected", "json", "op", "target",
    ])
    switch try fields.string("op") {
    case "init(jsonString:)": try checkParsing(fields)
    case "jsonString()": try checkSerialization(fields)
    case "mergeClientCapabilities": try checkCapabilities(fields)
    case let op: throw VectorFailure.notUnderstood([op])
    }
  }

  private static func checkParsing(_ fields: JSONObject) throws {
    let expected = try fields.object("expected").understood(["error", "names", "parsedCounts"])
    let request: ClaimsRequest
    do {
      request = try ClaimsRequest(json: try fields.string("json"))
    } catch let error as ClaimsRequestError {
      guard let expectedError = expected["error"]?.objectValue else { throw error }
      if expectedError["domain"] == "NSCocoaErrorDomain" { try expectEqual("code", error.code, .notJSON) }
      if let description = try expectedError.optionalString("description") {
        try expectEqual("description", error.description, description)
      }
      return
    }
    guard expected["error"] == nil else { throw VectorFailure("no error, expected one") }
    // The claims of the ID token come first in the names and counts.
    let parsed = [ClaimsRequest.Target.idToken, .accessToken].map { request.claims(for: $0) }
      .filter { !$0.isEmpty }
    let counts = parsed.map { JSONValue.integer(Int64($0.count)) }
    let names = parsed.flatMap { $0.map { JSONValue.string($0.name) } }
    if expected["parsedCounts"] != nil { try expectEqual("counts", counts, expected.array("parsedCounts")) }
    if expected["names"] != nil { try expectEqual("names", names, expected.array("names")) }
    // What was read must also be what is written.
    let input = try JSONDecoder().decode(JSONObject.self, from: Data(try fields.string("json").utf8))
    try expectEqual("the JSON", request.members, input)
  }

  private static func checkSerialization(_ fields: JSONObject) throws {
    var request = ClaimsRequest()
    if let name = try fields.optionalString("claim") {
      guard let target = ClaimsRequest.Target(vector: try fields.string("target")) else {
        throw VectorFailure.notUnderstood([try fields.string("target")])
      }
      let infos = fields["additionalInfo_objc"]?.arrayValue ?? [fields["additionalInfo_objc"] ?? .null]
      for info in infos {
        request.request(
          ClaimsRequest.Claim(
            name: name, additionalInfo: try ClaimsRequest.AdditionalInfo(vector: info.objectValue ?? [:])),
          for: target)
      }
    }
    try compare(request, with: try fields.string("expected"))
  }

  private static func checkCapabilities(_ fields: JSONObject) throws {
    var request = try ClaimsRequest(fields["developerClaims"]?.objectValue ?? [:])
    request.requestCapabilities((fields["capabilities"]?.arrayValue ?? []).compactMap(\.stringValue))
    switch fields["expected"] {
    case nil, .null: try expectEqual("isEmpty", request.isEmpty, true)
    case .object(let expected):
      try expectEqual("hasClaims", !request.isEmpty, expected.understood(["hasClaims"]).flag("hasClaims"))
    default: try compare(request, with: try fields.string("expected"))
    }
  }

  /// Compares as JSON: the order of members is not part of a claims request.
  private static func compare(_ request: ClaimsRequest, with expected: String) throws {
    func parsed(_ json: String) throws -> JSONObject {
      try JSONDecoder().decode(JSONObject.self, from: Data(json.utf8))
    }
    try expectEqual("the JSON", parsed(request.json()), parsed(expected))
  }
}

extension ClaimsRequest.Target {
  fileprivate init?(vector name: String) {
    switch name {
    case "idToken", "id_token": self = .idToken
    case "accessToken", "access_token": self = .accessToken
    default: return nil
    }
  }
}

extension ClaimsRequest.AdditionalInfo {
  /// Reads members whose values are Objective-C literals, such as `@YES` and `@[@"a"]`.
  fileprivate init?(vector members: JSONObject) throws {
    guard !members.isEmpty else { return nil }
    let members = try members.understood(["essential", "value", "values"]).mapValues { value in
      guard let literal = value.stringValue else { return value }
      return try JSONValue(objectiveC: literal)
    }
    self.init(value: members["value"], values: members["values"]?.arrayValue)
    switch members["essential"] {
    case nil: break
    case .bool(let truth): essential = truth
    case .some(let number): essential = number.numberValue != 0
    }
  }
}

extension JSONValue {
  fileprivate init(objectiveC literal: String) throws {
    var json = ""
    var isQuoted = false
    for character in literal {
      if character == "\"" { isQuoted.toggle() }
      if character != "@" || isQuoted { json.append(character) }
    }
    switch json {
    case "YES": self = .bool(true)
    case "NO": self = .bool(false)
    default: self = try JSONDecoder().decode(JSONValue.self, from: Data(json.utf8))
    }
  }
}
