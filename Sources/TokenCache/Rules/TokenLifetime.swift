package import FoundationEssentials

/// The times of an access token.
package struct TokenLifetime: Sendable, Hashable {
  let cachedAt: Date?
  package let expiresOn: Date?
  package let extendedExpiresOn: Date?
  let refreshOn: Date?

  /// The seconds after which no access token ends, as in MSAL.NET: one that does is not from a sane clock.
  static let maximum = 3650.0 * 86400

  init(of token: Credential) {
    cachedAt = token.cachedAt
    expiresOn = token.expiresOn
    refreshOn = token.refreshOn
    extendedExpiresOn = token.secret == nil ? nil : token.extendedExpiresOn
  }

  func condition(at now: Date, buffer: Double) -> FoundAccessToken.Condition {
    guard isExpired(at: now, buffer: buffer) else { return needsRefresh(at: now) ? .needsRefresh : .valid }
    return isInExtendedLifetime(at: now) ? .extendedLifetime : .expired
  }

  /// Until when a token that is valid now stays so; `nil` for one that never is.
  package func validUntil(buffer: Double) -> Date? {
    expiresOn.map { min($0.addingTimeInterval(-buffer), refreshOn ?? .distantFuture) }
  }

  package func isExpired(at now: Date, buffer: Double) -> Bool {
    guard let expiresOn else { return true }
    return expiresOn < now.addingTimeInterval(buffer) || isImplausible(at: now)
  }

  func needsRefresh(at now: Date) -> Bool {
    isFromTheFuture(at: now) || refreshOn.map { $0 < now } ?? false
  }

  package func isInExtendedLifetime(at now: Date) -> Bool {
    extendedExpiresOn.map { $0 > now } ?? false && !isImplausible(at: now)
  }

  /// Whether both ends have passed, whatever the other times say: they are right again when the clock is.
  func hasFullyEnded(at now: Date) -> Bool {
    expiresOn.map { $0 < now } ?? true && extendedExpiresOn.map { $0 <= now } ?? true
  }

  private func isFromTheFuture(at now: Date) -> Bool { cachedAt.map { $0 > now } ?? false }

  /// Whether the clock was moved, or was wrong when the token was stored.
  private func isImplausible(at now: Date) -> Bool {
    isFromTheFuture(at: now) || expiresOn.map { $0.timeIntervalSince(now) > Self.maximum } ?? false
  }
}
