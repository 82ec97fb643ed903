import Foundation
import TestSupport

@testable import TokenCache

/// What became of a row that did not fail.
enum VectorOutcome: Sendable {
  case passed
  /// The row is about something that this module does not do.
  case elsewhere
}

/// Runs the rows of one section against the module.
typealias VectorCheck = @Sendable (VectorRow) async throws -> VectorOutcome

enum VectorRunner {
  static let sections: [String: VectorCheck] = [
    "credential_cache_keys": passing(checkCredentialKey),
    "credential_cache_queries": passing(checkQuery(CredentialQuery.self)),
    "account_cache_keys": passing(checkAccountKey),
    "account_cache_queries": passing(checkQuery(AccountQuery.self)),
    "app_metadata_cache_keys": passing(checkAppMetadataKey),
    "app_metadata_cache_queries": passing(checkQuery(AppMetadataQuery.self)),
    "credential_items_json": passing(checkCredentialJSON),
    "account_items_json": passing(checkAccountJSON),
    "account_metadata_items_json": passing(checkAccountMetadataJSON),
    "schema_compliance": passing(checkSchemaCompliance),
    "schema_signin_bundles": passing(checkSignInBundle),
    "cache_scenarios": passing { try await VectorScenario().run($0) },
    "legacy_adal_keys": passing(checkLegacyKey),
    "client_info": passing(checkClientInfo),
    "derived": checkDerived,
    "authority_aliases": checkAliases,
  ]

  /// Input of other sections.
  static let inputs: Set<String> = ["schema_token_responses", "schema_configurations"]

  /// Sections about the network, errors and the façade, and an index of names.
  static let elsewhere: Set<String> = [
    "aad_authority_cloud_instances", "authority_init", "behaviour_test_index", "claims_requests",
    "msid_to_msal_error_mapping",
    "oauth_error_mapping_source", "oauth_error_mapping_tests", "pkce", "strings", "telemetry_strings",
  ]

  private static func passing(_ check: @escaping @Sendable (VectorRow) async throws -> Void) -> VectorCheck {
    { row in
      try await check(row)
      return .passed
    }
  }

  @Sendable static func checkDerived(_ row: VectorRow) throws -> VectorOutcome {
    // Records of the keychain that no MSAL for Linux has a use for.
    if ["use-single-frt-flag", "throttling-metadata"].contains(row.id) { return .elsewhere }
    let input = try row.understood(["input", "expected"]).object("input")
    if input["credentialType"] != nil {
      try checkCredentialKey(row)
    } else if input["homeAccountId"] != nil {
      try checkAccountKey(row)
    } else if input["environment"] != nil || input["generalType"] != nil {
      try checkAppMetadataKey(row)
    } else if input["authority"] != nil {
      try checkLegacyKey(row)
    } else {
      let key = AccountMetadata(clientID: try input.understood(["clientId"]).string("clientId")).key
      try compare(key, with: try row.fields.object("expected"))
    }
    return .passed
  }

  @Sendable static func checkAliases(_ row: VectorRow) throws -> VectorOutcome {
    guard let pairs = row.fields["sameEnvironment"]?.arrayValue else { return .elsewhere }
    let records = try [row.fields["record"]].compactMap { $0 }.filter { $0 != .null }.map {
      try $0.asObject("record").understood(["cacheKey", "preferred_network", "preferred_cache", "aliases"])
    }
    let clouds = CloudInstances(
      try records.map { record in
        CloudInstance(
          preferredNetwork: try record.string("preferred_network"),
          preferredCache: try record.string("preferred_cache"),
          aliases: try record.array("aliases").compactMap(\.stringValue))
      })
    for pair in pairs {
      guard let parts = pair.arrayValue, parts.count == 3,
        let one = parts[0].stringValue.flatMap(URL.init(string:))?.host,
        let other = parts[1].stringValue.flatMap(URL.init(string:))?.host, case .bool(let same) = parts[2]
      else { throw VectorFailure.notUnderstood(["\(pair)"]) }
      try expectEqual("\(one) and \(other)", clouds.canonical(one) == clouds.canonical(other), same)
    }
    return .passed
  }

  @Sendable static func checkClientInfo(_ row: VectorRow) throws {
    let fields = try row.understood(["accountIdentifier", "expected", "json", "raw"])
    let expected = try fields.object("expected")
    if let account = fields["accountIdentifier"]?.objectValue {
      var document = CacheDocument()
      document.save(
        AccountRecord(fields: account.merging(["authority_type": "MSSTS"]) { given, _ in given }))
      let accounts = [document].accounts(clientID: nil, in: .known)
      try expectEqual("the number of accounts", accounts.count, 1)
      try expectEqual("displayableId", accounts.first?.username, expected.optionalString("displayableId"))
      try expectEqual(
        "homeAccountId", accounts.first?.homeAccountID, expected.optionalString("homeAccountId"))
      return
    }
    let raw =
      try fields.optionalString("raw")
      ?? JSONValue.object(["$base64url_json": fields["json"] ?? .null]).resolved().stringValue
    let info = raw.flatMap(ClientInfo.init(raw:))
    switch try expected.understood(["accountIdentifier", "error", "uid", "utid"])["error"] {
    case nil, .bool(false), .null:
      if expected["accountIdentifier"] != nil {
        // A home account id is kept in lower case; Microsoft lower-cases it where it is used.
        try expectEqual(
          "accountIdentifier", info?.homeAccountID, expected.optionalString("accountIdentifier")?.lowercased()
        )
      }
      if expected["uid"] != nil { try expectEqual("uid", info?.uid, expected.optionalString("uid")) }
      if expected["utid"] != nil { try expectEqual("utid", info?.utid, expected.optionalString("utid")) }
    default: try expectEqual("the client info", info, nil)
    }
  }

  @Sendable static func checkLegacyKey(_ row: VectorRow) throws {
    let fields = try row.understood(["expected", "input"])
    let input = try fields.object("input").understood([
      "appKey", "applicationIdentifier", "authority", "clientId", "legacyUserId", "resource",
    ])
    let key = LegacyCacheKey(
      authority: try input.string("authority"), clientID: try input.string("clientId"),
      resource: try input.optionalString("resource"),
      legacyUserID: try input.optionalString("legacyUserId") ?? "",
      applicationIdentifier: try input.optionalString("applicationIdentifier"),
      appKey: try input.optionalString("appKey"))
    let expected = try fields.object("expected")
      .understood(["account_ios", "account_macos", "generic", "service", "type"])
    for (platform, field) in [(LegacyCacheKey.Platform.iOS, "account_ios"), (.macOS, "account_macos")] {
      var members = expected.filter { !$0.key.hasPrefix("account_") }
      members["account"] = expected[field]
      try compare(key.key(on: platform), with: members)
    }
  }
}
