extension MSALPublicClientApplication {
  /// As MSAL 0.1 had it.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` for what is no address of an authority.
  @available(*, deprecated, renamed: "init(configuration:)")
  public convenience init(clientId: String, authority: String, redirectUri: String? = nil) throws {
    try self.init(clientId: clientId, keychainGroup: nil, authority: authority, redirectUri: redirectUri)
  }

  /// As MSAL 0.1 had it.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` for what is no address of an authority.
  @available(*, deprecated, renamed: "init(configuration:)")
  public convenience init(
    clientId: String, keychainGroup: String?, authority: String, redirectUri: String? = nil
  ) throws {
    try self.init(
      clientId: clientId, keychainGroup: keychainGroup, authority: try legacyAuthority(authority),
      redirectUri: redirectUri)
  }

  /// As MSAL 0.2 to 1 had it.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` for a configuration that cannot work.
  @available(*, deprecated, renamed: "init(configuration:)")
  public convenience init(clientId: String, authority: MSALAuthority?, redirectUri: String? = nil) throws {
    try self.init(clientId: clientId, keychainGroup: nil, authority: authority, redirectUri: redirectUri)
  }

  /// As MSAL 0.2 to 1 had it.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` for a configuration that cannot work.
  @available(*, deprecated, renamed: "init(configuration:)")
  public convenience init(
    clientId: String, keychainGroup: String?, authority: MSALAuthority? = nil, redirectUri: String? = nil
  ) throws {
    let config = MSALPublicClientApplicationConfig(
      clientId: clientId, redirectUri: redirectUri, authority: authority)
    if let keychainGroup { config.cacheConfig.keychainSharingGroup = keychainGroup }
    try self.init(configuration: config)
  }
}
