import IdentityClient
import TokenCache

extension MSALPublicClientApplication {
  @available(*, deprecated, renamed: "allAccounts()")
  public func users() throws -> [MSALAccount] { try allAccounts() }

  @available(*, deprecated, renamed: "account(forIdentifier:)")
  public func user(forIdentifier identifier: String) throws -> MSALAccount {
    try account(forIdentifier: identifier)
  }

  @available(*, deprecated, renamed: "allAccounts()")
  public func accounts() throws -> [MSALAccount] { try allAccounts() }

  @available(*, deprecated, renamed: "account(forIdentifier:)")
  public func account(forHomeAccountId homeAccountId: String) throws -> MSALAccount {
    try account(forIdentifier: homeAccountId)
  }

  /// The accounts in the cloud of the application's authority.
  @available(*, deprecated, message: "Use accountsFromDevice(for:completionBlock:).")
  public func allAccountsFilteredByAuthority(
    _ completionBlock: @escaping @Sendable ([MSALAccount]?, (any Error)?) -> Void
  ) {
    let clouds = CloudInstances.known
    let cloud = clouds.canonical(client.configuration.authority.environment)
    complete(completionBlock, on: nil) { [self] in
      try await accounts(AccountsQuery()).filter { clouds.canonical($0.environment) == cloud }
    }
  }

  /// Always true. A host that only the program vouches for belongs into
  /// ``MSALPublicClientApplicationConfig/knownAuthorities``.
  @available(*, deprecated, message: "Use MSALPublicClientApplicationConfig.knownAuthorities.")
  public var validateAuthority: Bool {
    get { true }
    set {}
  }

  /// Always `.default`: the sign-in is shown in the system's browser.
  @available(*, deprecated, message: "Use MSALWebviewParameters.webviewType.")
  public var webviewType: MSALWebviewType {
    get { .default }
    set {}
  }

  /// Always `nil`: the sign-in is shown in the system's browser.
  @available(*, deprecated, message: "Use MSALWebviewParameters.customWebview.")
  public var customWebview: Any? {
    get { nil }
    set {}
  }
}
