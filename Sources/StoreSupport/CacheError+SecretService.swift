package import SecretService
package import TokenCache

extension CacheError {
  /// What a failure of the Secret Service means for the cache.
  package init(_ error: SecretServiceError) {
    let code: Code =
      switch error {
      case .noSessionBus, .noSecretService, .noSuchCollection, .serviceGone: .unavailable
      case .collectionLocked, .itemsLocked, .promptRequired: .locked
      case .promptDismissed, .noDisplay: .promptDismissed
      case .timedOut: .timedOut
      case .cancelled: .cancelled
      case .itemTooLarge: .tooLarge
      case .encryptionRefused, .noSuchItem, .refused, .malformedAnswer: .refused
      }
    self.init(code, error.description, advice: error.advice, underlyingError: error)
  }
}

/// Calls the Secret Service about a collection, the default one for `nil`; what it throws becomes an error of the cache.
package func calling<T>(
  collection: String?, _ body: () throws(SecretServiceError) -> T
) throws(CacheError) -> T {
  do throws(SecretServiceError) {
    return try body()
  } catch .noSuchCollection {
    throw CacheError(SecretServiceError.noSuchCollection(collection ?? "default"))
  } catch {
    throw CacheError(error)
  }
}
