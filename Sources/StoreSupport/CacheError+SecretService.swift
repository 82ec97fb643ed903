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

  /// What a failure in a collection, the default one for `nil`, means for the cache.
  package init(_ error: SecretServiceError, collection: String?) {
    if case .noSuchCollection = error {
      self.init(.noSuchCollection(collection ?? "default"))
    } else {
      self.init(error)
    }
  }
}
