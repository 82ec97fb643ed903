import Foundation
import TestSupport

@testable import TokenCache

/// Runs a row of one section against the module.
typealias VectorCheck = @Sendable (VectorRow) async throws -> Void

enum VectorRunner {
  static let sections: [String: VectorCheck] = [
    "credential_cache_keys": checkCredentialKey,
    "credential_cache_queries": checkQuery(CredentialQuery.self),
    "account_cache_keys": checkAccountKey,
    "account_cache_queries": checkQuery(AccountQuery.self),
    "app_metadata_cache_keys": checkAppMetadataKey,
    "app_metadata_cache_queries": checkQuery(AppMetadataQuery.self),
    "credential_items_json": { try checkRecordJSON(Credential.self, $0) },
    "account_items_json": { try checkRecordJSON(AccountRecord.self, $0) },
    "account_metadata_items_json": checkAccountMetadataJSON,
    "schema_compliance": checkSchemaCompliance,
    "schema_signin_bundles": checkSignInBundle,
    "cache_scenarios": { try await VectorScenario().run($0) },
    "legacy_adal_keys": checkLegacyKey,
    "client_info": checkClientInfo,
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

  /// Whether a row of a known section is about something that this module does not do.
  static func isElsewhere(_ row: VectorRow) -> Bool {
    switch row.section {
    // Records of the keychain that no MSAL for Linux has a use for.
    case "derived": ["use-single-frt-flag", "throttling-metadata"].contains(row.id)
    case "authority_aliases": row.fields["sameEnvironment"]?.arrayValue == nil
    default: false
    }
  }

  @Sendable static func checkDerived(_ row: VectorRow) throws {
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
  }

  @Sendable static func checkAliases(_ row: VectorRow) throws {
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
    for pair in try row.fields.array("sameEnvironment") {
      guard let parts = pair.arrayValue, parts.count == 3,
        let one = parts[0].stringValue.flatMap(URL.init(string:))?.host,
        let other = parts[1].stringValue.flatMap(URL.init(string:))?.host, case .bool(let same) = parts[2]
      else { throw VectorFailure.notUnderstood(["\(pair)"]) }
      try expectEqual("\(one) and \(other)", clouds.canonical(one) == clouds.canonical(other), same)
    }
  }

  @Sendable static func checkClientInfo(_ row: VectorRow) throws {
    let fields = try row.understood(["accountIdentifier", "expected", "json", "raw"])
    let expected = try fields.object("expected")
    if let account = fields["accountIdentifier"]?.objectValue {
      var document = CacheDocument()
      AccountRecord(fields: account.merging(["authority_type": "MSSTS"]) { given, _ in given })
        .save(in: &document)
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

  /// The keys of ADAL, the library before MSAL. Its two platforms spell the account differently.
  @Sendable static func checkLegacyKey(_ row: VectorRow) throws {
    let fields = try row.understood(["expected", "input"])
    let input = try fields.object("input").understood([
      "appKey", "applicationIdentifier", "authority", "clientId", "legacyUserId", "resource",
    ])
    func encoded(_ text: String) -> String { Data(text.utf8).base64URL }
    let library = "MSOpenTech.ADAL.1"
    let user = (try input.optionalString("legacyUserId") ?? "").normalized
    let application = try input.optionalString("applicationIdentifier").nonBlank
    let resource = try input.optionalString("resource").nonBlank
    let parts = [
      library + (application.map { "-" + encoded($0) } ?? ""),
      encoded(try input.string("authority").normalized),
      // Stands where a token has no resource: the keychain took no empty attribute.
      resource.map { encoded($0.normalized) } ?? "CC3513A0-0E69-4B4D-97FC-DFB6C91EE132",
      encoded(try input.string("clientId").normalized), try input.optionalString("appKey").nonBlank,
    ]
    let expected = try fields.object("expected")
      .understood(["account_ios", "account_macos", "generic", "service", "type"])
    for (account, field) in [(encoded(user), "account_ios"), (user, "account_macos")] {
      var members = expected.filter { !$0.key.hasPrefix("account_") }
      members["account"] = expected[field]
      let service = parts.compactMap(\.self).joined(separator: "|")
      try compare(CacheKey(account: account, service: service, generic: library), with: members)
    }
  }
}
