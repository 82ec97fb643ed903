package import TokenCache

extension EtcdCacheStore {
  /// Checks endpoints and prefix without making a store of them.
  ///
  /// - Throws: ``CacheError`` as the initializer does.
  package static func check(endpoints: [String], prefix: String) throws(CacheError) {
    _ = try EtcdNames(prefix: prefix)
    for endpoint in endpoints { _ = try EtcdEndpoint(endpoint) }
  }
}
