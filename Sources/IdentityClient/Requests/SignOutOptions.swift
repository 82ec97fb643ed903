public import FoundationEssentials

/// What a sign-out removes besides the tokens of this client.
public struct SignOutOptions: Sendable {
  /// The account and its tokens of all clients of the group.
  public var wipeAccount: Bool
  /// Everything in the group.
  public var wipeCacheForAllAccounts: Bool
  /// The browser's session with the authority.
  public var fromBrowser: Bool
  public var extraQueryParameters: [String: String] = [:]
  /// The authority of that session, in place of the configured one.
  public var authority: Authority?
  public var correlationID = UUID.random()
  /// The timeout for the browser.
  public var timeout: Duration = .seconds(300)

  public init(wipeAccount: Bool = false, wipeCacheForAllAccounts: Bool = false, fromBrowser: Bool = false) {
    self.wipeAccount = wipeAccount
    self.wipeCacheForAllAccounts = wipeCacheForAllAccounts
    self.fromBrowser = fromBrowser
  }
}
