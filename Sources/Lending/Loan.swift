public import FoundationEssentials
import LoanProtocol
public import TokenCache

/// What is lent: access tokens of one account, for just these scopes.
public struct Loan: Sendable {
  /// Each is the scopes of one token.
  public let scopes: [[String]]
  /// Whose tokens they are.
  public let account: Account
  /// The application that the tokens are issued to.
  public let clientID: String
  /// Who issues them.
  public let authority: URL
  /// For how long.
  public let duration: Duration

  public init(scopes: [[String]], account: Account, clientID: String, authority: URL, duration: Duration) {
    self.scopes = scopes
    self.account = account
    self.clientID = clientID
    self.authority = authority
    self.duration = duration
  }
}
