import Foundation
@testable import MSAL
import Testing

/// Microsoft's own test values for the public API of MSAL for iOS and macOS.
@Suite(
  .enabled(if: Vectors.isThere, "no vectors: MSAL_VECTORS names the file, else ../shared/vectors"))
struct VectorTests {
  @Test(arguments: Vectors.rows("msid_to_msal_error_mapping"))
  func `Error codes`(_ row: Vectors.Row) throws {
    let specific = try #require(row.number("mapsToCode"))
    #expect(MSALError(rawValue: specific) != nil || MSALInternalError(rawValue: specific) != nil)

    let error = NSError(specific: specific, "A test.")
    #expect(error.domain == row.text("publicDomain"))
    #expect(error.code == row.number("publicCode"))
    #expect(error.userInfo[MSALInternalErrorCodeKey] as? Int == row.number("internalCode"))
  }

  @Test(arguments: Vectors.rows("aad_authority_cloud_instances"))
  func `Cloud instances`(_ row: Vectors.Row) throws {
    let input = try #require(row.object("input"))
    let expected = try #require(row.object("expected"))
    let cloud = try #require(Self.clouds[input["cloudInstance"] as? String ?? ""])
    let audience = try #require(Self.audiences[input["audienceType"] as? String ?? ""])
    let make = {
      try MSALAADAuthority(
        cloudInstance: cloud, audienceType: audience, rawTenant: input["rawTenant"] as? String)
    }
    if let url = expected["url"] as? String {
      #expect(try make().url.absoluteString == url)
    } else {
      expect(try make(), failsAs: expected, description: expected["errorDescription"] as? String)
    }
  }

  @Test(arguments: Vectors.rows("claims_requests"))
  func `Claims requests`(_ row: Vectors.Row) throws {
    switch row.text("op") {
    case "init(jsonString:)":
      let json = try #require(row.text("json"))
      let expected = try #require(row.object("expected"))
      if let error = expected["error"] as? [String: Any] {
        let description = error["description"] as? String
        expect(try MSALClaimsRequest(jsonString: json), failsAs: error, description: description)
        var failure: NSError?
        let request = MSALClaimsRequest(jsonString: json, error: &failure)
        #expect(failure?.userInfo[MSALErrorDescriptionKey] as? String == description)
        #expect(request.jsonString() == "{}")
      } else {
        let request = try MSALClaimsRequest(jsonString: json)
        let claims = [MSALClaimsRequestTarget.idToken, .accessToken].compactMap(request.claimsRequests)
        #expect(claims.map(\.count) == expected["parsedCounts"] as? [Int])
        #expect(claims.flatMap { $0.map(\.name) } == expected["names"] as? [String])
      }
    case "jsonString()":
      let request = MSALClaimsRequest()
      if let name = row.text("claim") {
        let infos = row.fields["additionalInfo_objc"] as? [[String: Any]]
        for info in infos ?? [row.object("additionalInfo_objc") ?? [:]] {
          let claim = MSALIndividualClaimRequest(name: name)
          claim.additionalInfo = try additionalInfo(info)
          try request.requestClaim(claim, for: row.text("target") == "accessToken" ? .accessToken : .idToken)
        }
      }
      #expect(request.jsonString() == row.text("expected"))
    default:
      // Capabilities are merged below the facade.
      #expect(row.text("op") == "mergeClientCapabilities")
    }
  }

  @Test func `An error's domain is the row's`() throws {
    let error = #"{"domain": "NSCocoaErrorDomain", "code": 3840}"#
    let row = #"{"op": "init(jsonString:)", "json": "{", "expected": {"error": \#(error)}}"#
    let fields = try JSONSerialization.jsonObject(with: Data(row.utf8)) as? [String: Any]
    try `Claims requests`(Vectors.Row(fields: #require(fields), testDescription: "no JSON"))
  }

  private func expect<T>(
    _ make: @autoclosure () throws -> T, failsAs expected: [String: Any], description: String?
  ) {
    do {
      _ = try make()
      Issue.record("It should have failed.")
    } catch let error as NSError {
      // What is no JSON has the error of the JSON reader, in a domain of its own.
      #expect(error.domain == expected["domain"] as? String ?? MSALErrorDomain)
      #expect(error.code == expected["code"] as? Int)
      #expect(error.userInfo[MSALInternalErrorCodeKey] as? Int == expected["internalCode"] as? Int)
      #expect(error.userInfo[MSALErrorDescriptionKey] as? String == description)
    }
  }

  /// Reads the Objective-C literals of a row.
  private func additionalInfo(_ fields: [String: Any]) throws -> MSALIndividualClaimRequestAdditionalInfo? {
    guard !fields.isEmpty else { return nil }
    let info = MSALIndividualClaimRequestAdditionalInfo()
    for (name, literal) in fields {
      let value = try value(of: #require(literal as? String))
      switch name {
      case "essential": info.essential = value as? NSNumber
      case "value": info.value = value
      default: info.values = value as? [Any]
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
        with: Data(literal.replacing(#/@(?=["\[\d-])/#, with: "").utf8), options: .fragmentsAllowed)
    }
  }

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
