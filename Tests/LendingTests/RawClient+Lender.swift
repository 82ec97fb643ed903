import FoundationEssentials
import Lending
import TestSupport

extension RawClient {
  convenience init?(_ lender: Lender) {
    switch lender.address {
    case .socket(let path): self.init(socket: path)
    case .endpoint(let url, _): self.init(UInt16(url.port ?? 0))
    }
  }

  /// What the lender sends until it closes the connection.
  func answer() async -> LenderAnswer { LenderAnswer(text: await readToEnd()) }
}
