import IdentityClient
import TestSupport

@testable import Configuration

struct ClaimsArgumentTests {
  @Test func `Claims are JSON, or base64 or base64url of it`() throws {
    let json = #"{"access_token":{"acrs":{"essential":true,"value":"??>"}}}"#
    let base64 = Data(json.utf8).base64EncodedString()
    let base64URL = base64.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    #expect(base64.contains("+") && base64.contains("="))
    for argument in [json, " \(json)\n", base64, base64 + "=", base64URL] {
      let claims = try ClaimsRequest(argument: argument)
      #expect(try claims.json() == json)
      #expect(claims.argument == base64URL)
    }
  }

  @Test(arguments: ["", "{", "[]", "W10=", "not base64", "/////w==", #"{"userinfo":{}}"#])
  func `What is no claims request is invalid`(_ argument: String) {
    #expect(throws: ConfigurationError.self) { try ClaimsRequest(argument: argument) }
  }
}
