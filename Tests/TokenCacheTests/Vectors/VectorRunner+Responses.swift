import Foundation
import TestSupport

@testable import TokenCache

extension VectorRunner {
  @Sendable static func checkSchemaCompliance(_ row: VectorRow) throws {
    let fields = try row.understood([
      "configuration", "expectedJSON", "expectedKey", "factory", "kid", "produces", "tokenResponse",
      "tokenTypeOverride",
    ])
    let records = try records(
      response: try fields.string("tokenResponse"), configuration: try fields.string("configuration"),
      factory: try fields.string("factory"))
    // Microsoft's test sets these of the token that was made, as it spells them.
    var accessToken = records.accessToken
    if let type = try fields.optionalString("tokenTypeOverride") { accessToken?.tokenType = type }
    if let kid = try fields.optionalString("kid") { accessToken?.kid = kid }
    try compare(
      records, accessToken: accessToken, produced: try fields.string("produces"),
      json: try fields.object("expectedJSON"),
      key: try fields.object("expectedKey"))
  }

  /// A bundle is what one sign-in leaves; its id names the response, the configuration and the factory.
  @Sendable static func checkSignInBundle(_ row: VectorRow) throws {
    let fields = try row.understood(["items"])
    let words = row.id.split { " +()".contains($0) }.map(String.init)
    guard words.count == 3 else { throw VectorFailure.notUnderstood([row.id]) }
    let records = try records(response: words[0], configuration: words[1], factory: words[2])
    for item in try fields.array("items") {
      let item = try (item.objectValue ?? [:]).understood(["json", "key", "note", "produces", "source"])
      try compare(
        records, accessToken: records.accessToken, produced: try item.string("produces"),
        json: try item.object("json"),
        key: try item.object("key"))
    }
  }

  private static func named(_ id: String, in section: String) throws -> JSONObject {
    guard let row = VectorFile.rows(section).first(where: { $0.id == id }) else {
      throw VectorFailure("no \(id) in \(section)")
    }
    return row.fields
  }

  private static func records(
    response: String, configuration: String, factory: String
  ) throws -> TokenRecords {
    let response = TokenResponse(
      fields: try named(response, in: "schema_token_responses").object("json"))
    let configuration = try named(configuration, in: "schema_configurations")
    guard let host = URL(string: try configuration.string("authority"))?.host else {
      throw VectorFailure("the authority has no host")
    }
    let authority: AuthorityKind
    switch factory {
    case "MSIDAADV2Oauth2Factory": authority = .aad
    case "MSIDB2COauth2Factory": authority = .b2c
    case "MSIDCIAMOauth2Factory": authority = .ciam
    case "MSIDADFSOauth2Factory": authority = .adfs
    default: throw VectorFailure.notUnderstood([factory])
    }
    let parameters = try (configuration["authSchemeParams"]?.objectValue ?? [:])
      .mapValues { try $0.asString("a parameter") }
    return try TokenRecords(
      response,
      for: TokenRequest(
        environment: host, clientID: try configuration.string("clientId"), authority: authority,
        scopes: try configuration.string("target"),
        scheme: AuthenticationScheme(parameters: parameters)),
      at: JSONValue.vectorNow)
  }

  private static func compare(
    _ records: TokenRecords, accessToken: Credential?, produced: String, json: JSONObject, key: JSONObject
  ) throws {
    let json = try JSONValue.object(json).resolved().objectValue ?? [:]
    switch produced {
    case "accessToken": try compare(accessToken, json, key)
    case "idToken": try compare(records.idToken, json, key)
    case "refreshToken", "familyRefreshToken":
      let isFamily = json["family_id"] != nil
      try compare(records.refreshTokens.first { ($0.familyID != nil) == isFamily }, json, key)
    case "account":
      try expectEqual("the JSON", records.account?.fields, json)
      if let account = records.account { try compare(account.key, with: key) }
    case "appMetadata":
      try expectEqual("the JSON", records.appMetadata.fields, json)
      try compare(records.appMetadata.key, with: key)
    default: throw VectorFailure.notUnderstood([produced])
    }
  }

  private static func compare(_ credential: Credential?, _ json: JSONObject, _ key: JSONObject) throws {
    guard var credential else { throw VectorFailure("no such record was made") }
    try expectEqual("the JSON", credential.fields, json)
    // Microsoft's test composes the key without the token type, although the library has it there.
    let service = try key.optionalString("service") ?? ""
    if let type = credential.tokenType, !service.hasSuffix("-\(type.normalized)") {
      credential.tokenType = nil
    }
    try compare(credential.key, with: key)
  }
}
