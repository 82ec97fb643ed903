import Foundation
import TestSupport

struct ClaimsChallengeTests {
  private static let claims = #"{"access_token":{"nbf":{"essential":true,"value":"1767225600"},"é":null}}"#
  private static let base64 = Data(claims.utf8).base64EncodedString()
  private static let base64URL =
    base64.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
  private static let unpadded = base64URL.replacingOccurrences(of: "=", with: "")

  @Test(
    .conformance(51),
    arguments: [
      [#"Bearer realm="", error="insufficient_claims", claims="\#(base64)""#],
      [#"Bearer claims="\#(base64URL)", error="insufficient_claims", realm="a, b=c""#],
      [#"bearer error=insufficient_claims,claims=\#(unpadded)"#],
      [#"Bearer error = "insufficient_claims" , claims = "\#(unpadded)""#],
      [#"Basic realm="x", Bearer error="insufficient_claims", claims="\#(base64)", PoP nonce="n""#],
      [
        #"NTLM oYG2, Negotiate oYG2==, Bearer realm="say \"claims=1\"", error="insufficient_claims", claims="\#(base64)""#
      ],
      [
        #"Negotiate"#, #"Bearer error="invalid_token""#,
        #"Bearer error="insufficient_claims", claims="\#(base64)""#,
      ],
      [
        #"PoP error="insufficient_claims", claims="e30", Bearer error="insufficient_claims", claims="\#(base64)""#
      ],
      [#", ,Bearer authorization_uri="https://x/?a=b,c", error="insufficient_claims", claims="\#(base64)""#],
    ].abbreviated)
  func `A challenge is found among others, however it is written`(_ fields: Named<[String]>) {
    let fields = fields.value
    #expect(ClaimsChallenge(wwwAuthenticate: fields)?.claims == Self.claims)
  }

  @Test(
    .conformance(51),
    arguments: [
      [], [""], ["Bearer"], [#"Bearer error="invalid_token", claims="\#(base64)""#],
      [#"Bearer error="insufficient_claims""#], [#"Bearer error="insufficient_claims", claims="!!!""#],
      [#"Bearer error="insufficient_claims", claims="W10=""#],
      [#"error="insufficient_claims", claims="\#(base64)""#],
      [#"Bearer error="insufficient_claims, claims="\#(base64)""#], ["=", "\"", "Bearer =", "Bearer \"\\"],
      [#"PoP error="insufficient_claims", claims="\#(base64)""#],
    ].abbreviated)
  func `Other fields are not a claims challenge`(_ fields: Named<[String]>) {
    let fields = fields.value
    #expect(ClaimsChallenge(wwwAuthenticate: fields) == nil)
  }
}
