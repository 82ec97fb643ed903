import IdentityClient
import TokenCache

extension MSALPublicClientApplication {
  /// ``allAccounts()``, as MSAL 0.1 called it.
  @available(*, deprecated, renamed: "allAccounts()")
  public func users() throws -> [MSALAccount] { try allAccounts() }

  /// ``account(forIdentifier:)``, as MSAL 0.1 called it.
  @available(*, deprecated, renamed: "account(forIdentifier:)")
  public func user(forIdentifier identifier: String) throws -> MSALAccount {
    try account(forIdentifier: identifier)
  }

  /// ``allAccounts()``, as MSAL 0.1.4 called it.
  @available(*, deprecated, renamed: "allAccounts()")
  public func accounts() throws -> [MSALAccount] { try allAccounts() }

  /// ``account(forIdentifier:)``, as MSAL 0.1.4 called it.
  @available(*, deprecated, renamed: "account(forIdentifier:)")
  public func account(forHomeAccountId homeAccountId: String) throws -> MSALAccount {
    try account(forIdentifier: homeAccountId)
  }

  /// The accounts in the cloud of the application's authority.
  @available(*, deprecated, message: "Use accountsFromDevice(for:completionBlock:).")
  @preconcurrency
  public func allAccountsFilteredByAuthority(
    _ completionBlock: @escaping @Sendable ([MSALAccount]?, (any Error)?) -> Void
  ) {
    let clouds = CloudInstances.known
    let cloud = clouds.canonical(client.configuration.authority.environment)
    complete(completionBlock, on: nil) { [self] in
      try await accounts(AccountsQuery()).filter { clouds.canonical($0.environment) == cloud }
    }
  }
}
