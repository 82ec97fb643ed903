import Foundation
@testable import MSAL
import TestSupport

/// Microsoft's own test values for the public API of MSAL for iOS and macOS.
struct VectorTests {
  @Test(arguments: VectorFile.rows("msid_to_msal_error_mapping"))
  func `Microsoft's error codes map to MSAL's errors`(_ row: VectorRow) throws {
    let specific = try #require(row.fields.number("mapsToCode"))
    #expect(MSALError(rawValue: specific) != nil || MSALInternalError(rawValue: specific) != nil)

    let error = NSError(specific: specific, "A test.")
    #expect(error.domain == row.string("publicDomain"))
    #expect(error.code == row.fields.number("publicCode"))
    #expect(error.internalCode == row.fields.number("internalCode"))
  }

  @Test(arguments: VectorFile.rows("aad_authority_cloud_instances"))
  func `Each cloud instance has its host`(_ row: VectorRow) throws {
    let input = try row.fields.object("input")
    let expected = row.expected
    let cloud = try #require(Self.clouds[input.string("cloudInstance")])
    let audience = try #require(Self.audiences[input.string("audienceType")])
    let make = {
      try MSALAADAuthority(
        cloudInstance: cloud, audienceType: audience, rawTenant: input.optionalString("rawTenant"))
    }
    if let url = try expected.optionalString("url") {
      #expect(try make().url.absoluteString == url)
    } else {
      expect(try make(), failsAs: expected, description: try expected.optionalString("errorDescription"))
    }
  }

  @Test(arguments: VectorFile.rows("claims_requests"))
  func `Claims requests equal Microsoft's rows`(_ row: VectorRow) throws {
    _ = try row.understood([
      "additionalInfo_objc", "capabilities", "claim", "developerClaims", "expected", "json", "op", "target",
    ])
    switch row.string("op") {
    case "init(jsonString:)":
      let json = try #require(row.string("json"))
      _ = try row.expected.understood(["error", "names", "parsedCounts"])
      if let error = row.expected["error"]?.objectValue {
        let description = try error.optionalString("description")
        expect(try MSALClaimsRequest(jsonString: json), failsAs: error, description: description)
        var failure: NSError?
        let request = MSALClaimsRequest(jsonString: json, error: &failure)
        #expect(failure?.userInfo[MSALErrorDescriptionKey] as? String == description)
        #expect(request.jsonString() == "{}")
      } else {
        let request = try MSALClaimsRequest(jsonString: json)
        let claims = [MSALClaimsRequestTarget.idToken, .accessToken].compactMap(request.claimsRequests)
        #expect(try claims.map { .integer(Int64($0.count)) } == row.expected.array("parsedCounts"))
        #expect(try claims.flatMap { $0.map { .string($0.name) } } == row.expected.array("names"))
        // What was read must also be what is written.
        let input = try JSONDecoder().decode(JSONObject.self, from: Data(json.utf8))
        #expect(request.request.members == input)
      }
    case "jsonString()":
      let request = MSALClaimsRequest()
      if let name = row.string("claim") {
        let infos = row.fields["additionalInfo_objc"]
        for info in infos?.arrayValue ?? [infos ?? .object([:])] {
          let claim = MSALIndividualClaimRequest(name: name)
          claim.additionalInfo = try additionalInfo(info.asObject("additionalInfo_objc"))
          try request.requestClaim(claim, for: #require(Self.targets[row.string("target") ?? ""]))
        }
      }
      #expect(request.jsonString() == row.string("expected"))
    default:
      // `IdentityClientTests` checks how capabilities are merged, which is below the facade.
      #expect(row.string("op") == "mergeClientCapabilities")
    }
  }

  @Test(.fault("vector row")) func `An error's domain is that of its row`() throws {
    let error = #"{"domain": "NSCocoaErrorDomain", "code": 3840}"#
    let row = #"{"op": "init(jsonString:)", "json": "{", "expected": {"error": \#(error)}}"#
    let fields = try JSONDecoder().decode(JSONValue.self, from: Data(row.utf8))
    try `Claims requests equal Microsoft's rows`(
      VectorRow(section: "claims_requests", index: 0, fields: fields))
  }

  private func expect<T>(
    _ make: @autoclosure () throws -> T, failsAs expected: JSONObject, description: String?
  ) {
    do {
      _ = try make()
      Issue.record("The call should have failed.")
    } catch let error as NSError {
      // Invalid JSON has the error of the JSON reader, in its own domain.
      #expect(error.domain == expected["domain"]?.stringValue ?? MSALErrorDomain)
      #expect(error.code == expected.number("code"))
      #expect(error.internalCode == expected.number("internalCode"))
      #expect(error.userInfo[MSALErrorDescriptionKey] as? String == description)
    }
  }

  /// Reads the Objective-C literals of a row.
  private func additionalInfo(_ fields: JSONObject) throws -> MSALIndividualClaimRequestAdditionalInfo? {
    guard !fields.isEmpty else { return nil }
    let info = MSALIndividualClaimRequestAdditionalInfo()
    for (name, literal) in fields {
      let value = try value(of: literal.asString(name))
      switch name {
      case "essential": info.essential = value as? NSNumber
      case "value": info.value = value
      case "values": info.values = value as? [Any]
      default: throw VectorFailure.notUnderstood([name])
      }
    }
    return info
  }

  private func value(of literal: String) throws -> Any {
    switch literal {
    case "@YES": true as NSNumber
    case "@NO": false as NSNumber
    default:
      try JSONSerialization.jsonObject(
        with: Data(literal.replacing(#/@(?=["\[{\d-])/#, with: "").utf8), options: .fragmentsAllowed)
    }
  }

  private static let targets: [String: MSALClaimsRequestTarget] = [
    "idToken": .idToken, "id_token": .idToken, "accessToken": .accessToken, "access_token": .accessToken,
  ]

  private static let clouds: [String: MSALAzureCloudInstance] = [
    "MSALAzurePublicCloudInstance": .publicCloudInstance,
    "MSALAzureChinaCloudInstance": .chinaCloudInstance,
    "MSALAzureGermanyCloudInstance": .germanyCloudInstance,
    "MSALAzureUsGovernmentCloudInstance": .usGovernmentCloudInstance,
    "MSALAzureFranceCloudInstance": .franceCloudInstance,
    "MSALAzureDelosCloudInstance": .delosCloudInstance,
    "MSALAzureGovSGCloudInstance": .govSGCloudInstance,
  ]

  private static let audiences: [String: MSALAudienceType] = [
    "MSALAzureADAndPersonalMicrosoftAccountAudience": .azureADAndPersonalMicrosoftAccountAudience,
    "MSALAzureADMultipleOrgsAudience": .azureADMultipleOrgsAudience,
    "MSALAzureADMyOrgOnlyAudience": .azureADMyOrgOnlyAudience,
    "MSALPersonalMicrosoftAccountAudience": .personalMicrosoftAccountAudience,
  ]
}

extension JSONObject {
  fileprivate func number(_ name: String) -> Int? { self[name]?.numberValue.map(Int.init) }
}
