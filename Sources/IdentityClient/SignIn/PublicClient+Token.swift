public import TokenCache

extension PublicClient {
  /// Gets a token: silently if possible, else by a sign-in.
  ///
  /// The token comes from the cache, the broker or the server. If the user has to sign in, the broker's window or the
  /// browser opens.
  ///
  /// For example, in a program that may run without a browser:
  ///
  /// ```swift
  /// let result = try await client.token(for: ["User.Read"]) { code in
  ///   print(code.message)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - scopes: The requested scopes.
  ///   - account: One of ``accounts(_:)``. No other account may sign in. `nil` means the only account that is signed
  ///     in; if there is none, the user chooses one.
  ///   - claims: The claims that a resource requires after it refused a token.
  ///   - showCode: Shows a code for a sign-in on another device if this one has no browser. `nil` disables that.
  /// - Returns: The token and its account.
  /// - Throws: ``IdentityError``; ``IdentityError/Code/ambiguousAccount`` if several accounts are signed in and
  ///   `account` is `nil`, ``IdentityError/Code/mismatchedUser`` if another account signed in,
  ///   ``IdentityError/Code/browserUnavailable`` or ``IdentityError/Code/noAuthenticator`` without a browser, and
  ///   ``IdentityError/Code/interactiveSessionAlreadyRunning`` while another call waits for its browser.
  public func token(
    for scopes: [String], account: Account? = nil, claims: ClaimsRequest? = nil,
    showCode: (@Sendable (DeviceCode) async -> Void)? = nil
  ) async throws(IdentityError) -> AuthenticationResult {
    var (account, claims) = (account, claims)
    if account == nil { account = try await onlyAccount() }
    if let account {
      do throws(IdentityError) {
        return try await acquireTokenSilent(SilentRequest(scopes: scopes, account: account, claims: claims))
      } catch  where error.code == .interactionRequired && error.canBeResolvedBySignIn {
        claims = error.claims.flatMap { try? ClaimsRequest(json: $0) } ?? claims
      }
    }
    let request = InteractiveRequest(
      scopes: scopes, account: account, prompt: account == nil ? .selectAccount : .promptIfNecessary,
      claims: claims)
    // If the broker is required, no code can be requested.
    guard let showCode, configuration.brokerPolicy != .required else {
      return try await acquireToken(request)
    }
    if authenticator?.isAvailable == true {
      do throws(IdentityError) {
        return try await acquireToken(request)
      } catch  where error.code == .browserUnavailable {}
    }
    var code = DeviceCodeRequest(scopes: scopes, claims: claims, show: showCode)
    code.account = account
    return try await acquireToken(code)
  }

  /// The account that is signed in, from the cache or else from the broker; `nil` if there is none.
  private func onlyAccount() async throws(IdentityError) -> Account? {
    var found = configuration.brokerPolicy == .required ? [] : try await accounts()
    if found.isEmpty { found = try await accountsFromDevice() }
    guard found.count < 2 else {
      throw IdentityError(
        .ambiguousAccount, "\(found.count) accounts are signed in where one was expected.",
        advice: "Choose one of accounts() for the request, or sign all but one out.")
    }
    return found.first
  }
}
