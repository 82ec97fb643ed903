extension MSALCacheConfig {
  /// What the properties below keep.
  struct Inert {
    var serializedADALCache: MSALSerializedADALCacheProvider?
    var trustedApplications: [Any] = []
  }

  /// Has no effect: no cache of ADAL is read. It keeps what it is set to.
  public var serializedADALCache: MSALSerializedADALCacheProvider? {
    get { inert.serializedADALCache }
    set { inert.serializedADALCache = newValue }
  }

  /// Has no effect: a keyring of Linux has no list of programs for each item. It keeps what it is set to.
  public var trustedApplications: [Any] {
    get { inert.trustedApplications }
    set { inert.trustedApplications = newValue }
  }

  /// Has no effect: returns the paths as they are.
  public func createTrustedApplicationList(fromPaths paths: [String]) throws -> [Any] { paths }
}
