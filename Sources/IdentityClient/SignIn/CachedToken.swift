import FoundationEssentials
import TokenCache

/// An access token from the cache, and its validity now.
struct CachedToken: Sendable {
  let found: FoundAccessToken
  let account: Account
  /// Whether it may be returned without a request.
  let isFresh: Bool
  /// Whether it has not expired.
  let isValid: Bool
  /// Whether the server allows its use during an outage.
  private let isExtended: Bool

  init?(_ found: FoundAccessToken?, at now: Date, extendedLifetimeEnabled: Bool) {
    guard let found, let account = found.account, let end = found.lifetime.expiresOn else { return nil }
    (self.found, self.account) = (found, account)
    isFresh = found.condition == .valid
    isValid = end > now && !found.lifetime.isExpired(at: now, buffer: 0)
    isExtended = found.lifetime.isInExtendedLifetime(at: now) && extendedLifetimeEnabled
  }

  var refreshReason: ServerTelemetry.RefreshReason {
    found.condition == .needsRefresh ? .proactive : .expired
  }

  /// Whether it may be returned although its renewal failed: until it expires, unless a server refused, the account is
  /// signed out or the call was cancelled. In its extended lifetime, only during an outage.
  func serves(despite error: IdentityError) -> Bool {
    guard isValid else { return isExtended && error.isOutage }
    return !error.isOAuthRefusal && error.result == nil
      && error.code != .interactionRequired && error.code != .cancelled
  }
}
