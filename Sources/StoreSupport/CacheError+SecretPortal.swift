package import SecretService
package import TokenCache

extension CacheError {
  /// What a failure of the Secret portal means for the cache.
  package init(_ error: SecretPortalError) {
    let code: Code =
      switch error {
      case .noSessionBus, .noPortal, .noBackend, .failed, .portalGone: .unavailable
      case .denied: .promptDismissed
      case .timedOut: .timedOut
      case .cancelled: .cancelled
      case .notAllowed, .tooShort, .tooLong, .refused, .malformedAnswer: .refused
      }
    self.init(code, error.description, advice: error.advice, underlyingError: error)
  }
}
