extension MSALSilentTokenParameters {
  /// Has no effect: there is no single sign-on extension, and the cache is always used. It keeps what it is set to.
  public var allowUsingLocalCachedRtWhenSsoExtFailed: Bool {
    get { inertCachedTokenUse }
    set { inertCachedTokenUse = newValue }
  }
}
