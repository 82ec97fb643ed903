import FoundationEssentials
import Logging
import Synchronization
import TokenCache

/// Memoizes the results of silent calls that came from the cache, until the cache changes or the token is due for
/// renewal.
struct SilentResults: Sendable {
  /// What a result depends on besides the client and the cache.
  struct Call: Hashable, Sendable {
    private let homeAccountID: String
    private let scopes: [String]
    private let authority: Authority?

    /// `nil` for a call that a bearer token from the cache cannot satisfy.
    init?(_ request: SilentRequest) {
      guard !request.forceRefresh, request.claims == nil, request.authenticationScheme == nil,
        request.extraQueryParameters.isEmpty
      else { return nil }
      homeAccountID = request.account.homeAccountID
      scopes = request.scopes
      authority = request.authority
    }

    /// Hashes enough to distinguish most calls of a program.
    func hash(into hasher: inout Hasher) {
      hasher.combine(homeAccountID)
      hasher.combine(scopes.first)
    }
  }

  private struct Entry {
    let result: AuthenticationResult
    /// When the token is fresh.
    let validity: ClosedRange<Date>
  }

  /// The maximum number of results. If there are more, all are removed.
  private static let maximum = 20_000

  private var entries: [Call: Entry] = [:]
  private var version: UInt64?

  /// Returns the result of a call, if it is still current. `version` is the cache's
  /// ``TokenCacheAccessor/memoryVersion``.
  func result(of call: Call, version: UInt64, at now: Date) -> AuthenticationResult? {
    guard self.version == version, let entry = entries[call], entry.validity.contains(now) else {
      return nil
    }
    return entry.result
  }

  mutating func remember(
    _ result: AuthenticationResult, of call: Call, version: UInt64, validity: ClosedRange<Date>
  ) {
    if self.version != version || entries.count >= Self.maximum { entries = [:] }
    self.version = version
    entries[call] = Entry(result: result, validity: validity)
  }
}

extension PublicClient {
  /// Returns the memoized result of a silent call, if it is still current.
  func rememberedResult(of request: SilentRequest) -> AuthenticationResult? {
    guard let call = SilentResults.Call(request), let version = cache.memoryVersion else { return nil }
    let now = now()
    guard var result = silentResults.withLock({ $0.result(of: call, version: version, at: now) }) else {
      return nil
    }
    result.correlationID = request.correlationID
    noteTokenFromCache(request)
    return result
  }

  /// Memoizes the result of a silent call. The token is fresh, has this lifetime, and is from this version of the
  /// cache's memory.
  func remember(
    _ result: AuthenticationResult, of request: SilentRequest, _ lifetime: TokenLifetime, at version: UInt64?
  ) {
    let now = now()
    guard let call = SilentResults.Call(request), let version, version == cache.memoryVersion,
      let end = lifetime.validUntil(buffer: configuration.tokenExpirationBuffer), now <= end
    else { return }
    silentResults.withLock { $0.remember(result, of: call, version: version, validity: now...end) }
  }

  func noteTokenFromCache(_ request: SilentRequest) {
    telemetry.tokenCameFromCache()
    log(
      .debug, "The token came from the cache.",
      [
        "account": log.personal(request.account.homeAccountID),
        "correlation": "\(request.correlationID.text)",
      ])
  }
}
