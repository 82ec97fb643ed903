package import FoundationEssentials

/// The times of an access token.
package struct TokenLifetime: Sendable, Hashable {
  package let cachedAt: Date?
  package let expiresOn: Date?
  package let extendedExpiresOn: Date?
  let refreshOn: Date?

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

  func isExpired(at now: Date, buffer: Double) -> Bool {
    guard let expiresOn else { return true }
    return expiresOn < now.addingTimeInterval(buffer) || isFromTheFuture(at: now)
  }

  func needsRefresh(at now: Date) -> Bool {
    isFromTheFuture(at: now) || refreshOn.map { $0 < now } ?? false
  }

  package func isInExtendedLifetime(at now: Date) -> Bool {
    extendedExpiresOn.map { $0 > now } ?? false
  }

  package func isFromTheFuture(at now: Date) -> Bool { cachedAt.map { $0 > now } ?? false }
}
