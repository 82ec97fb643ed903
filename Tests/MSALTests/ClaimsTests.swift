import Foundation
import MSAL
import Testing

/// Claims requests beyond Microsoft's own values.
struct ClaimsTests {
  @Test(arguments: [#"true"#, #"1"#, #"1.5"#, #""text""#, #"["a",true,null]"#, #"{"b":{"c":0}}"#])
  func `Values keep their kind`(_ value: String) throws {
    let json = #"{"access_token":{"claim":{"value":\#(value)}}}"#
    let request = try MSALClaimsRequest(jsonString: json)
    let claim = try #require(request.claimsRequests(for: .accessToken)?.first)
    let again = MSALClaimsRequest()
    try again.requestClaim(claim, for: .accessToken)
    #expect(again.jsonString() == json)
  }

  @Test func `Values that JSON cannot express are refused`() {
    for value in [Date(), Double.infinity, [Date()], ["a": Date()]] as [Any] {
      let claim = MSALIndividualClaimRequest(name: "claim")
      claim.additionalInfo = MSALIndividualClaimRequestAdditionalInfo()
      claim.additionalInfo?.value = value
      #expect(throws: NSError.self) { try MSALClaimsRequest().requestClaim(claim, for: .idToken) }
    }
  }

  @Test func `A claim is removed once`() throws {
    let request = try MSALClaimsRequest(jsonString: #"{"id_token":{"nickname":null}}"#)
    try request.removeClaim(withName: "nickname", target: .idToken)
    #expect(request.claimsRequests(for: .idToken) == nil)
    #expect(throws: NSError.self) { try request.removeClaim(withName: "nickname", target: .idToken) }
  }

  /// The JSON reader's own error, as in MSAL.
  @Test(arguments: ["{\"id_token\": {", "", "no JSON"])
  func `Invalid JSON is the reader's error`(_ json: String) {
    let error = #expect(throws: NSError.self) { try MSALClaimsRequest(jsonString: json) }
    #expect(error?.domain == NSCocoaErrorDomain && error?.code == 3840)
  }
}
