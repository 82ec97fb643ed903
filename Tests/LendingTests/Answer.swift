import FoundationEssentials
import Lending
import Testing

/// What a lender sent.
struct Answer: Sendable {
  let text: String

  var status: Int? { text.prefixMatch(of: #/HTTP/1\.\d (\d+)\s/#).flatMap { Int($0.1) } }

  var body: Data { Data((text.split(separator: "\r\n\r\n", maxSplits: 1).last ?? "").utf8) }

  func token() throws -> LentToken {
    try #require(status == 200, "\(text)")
    return try JSONDecoder().decode(LentToken.self, from: body)
  }

  /// The reason that it names, after a look at the rest of the refusal.
  func refusal() throws -> LoanRefusal.Code? {
    let refusal = try JSONDecoder().decode(LoanRefusal.self, from: body)
    #expect(refusal.statusCode == status)
    #expect(!refusal.description.isEmpty)
    #expect(text.contains("\r\nCache-Control: no-store\r\n"))
    return refusal.code
  }
}
