import FoundationEssentials
import Testing
import TokenCache

@testable import Lending

/// What a lender sent.
struct LenderAnswer: Sendable {
  let text: String

  var status: Int? { text.prefixMatch(of: #/HTTP/1\.\d (\d+)\s/#).flatMap { Int($0.1) } }

  func members() throws -> JSONObject {
    let body = text.split(separator: "\r\n\r\n", maxSplits: 1).last ?? ""
    return try JSONDecoder().decode(JSONObject.self, from: Data(body.utf8))
  }

  func token() throws -> JSONObject {
    try #require(status == 200, "\(text)")
    return try members()
  }

  func accessToken() throws -> String? { try token()["access_token"]?.stringValue }

  /// The code of the refusal, whose other members are checked.
  func refusal() throws -> LoanRefusal.Code? {
    let members = try members()
    #expect(members["statusCode"]?.numberValue == status.map(Double.init))
    #expect(members["error_description"]?.stringValue.nonBlank != nil)
    #expect(text.contains("\r\nCache-Control: no-store\r\n"))
    return members["error"]?.stringValue.flatMap(LoanRefusal.Code.init)
  }
}
