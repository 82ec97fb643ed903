import FoundationEssentials
import Logging
import Synchronization
import TokenCache

/// The results of silent calls that came from the cache. The same call gets the same result until the cache changes or the
/// token is due for renewal.
struct SilentAnswers: Sendable {
  /// What such a result depends on besides the client and the cache.
  struct Call: Hashable, Sendable {
    private let homeAccountID: String
    private let scopes: [String]
    private let authority: Authority?

    /// `nil` for a call that asks for more than a bearer token from the cache.
    init?(_ request: SilentRequest) {
      guard !request.forceRefresh, request.claims == nil, request.authenticationScheme == nil,
        request.extraQueryParameters.isEmpty
      else { return nil }
      homeAccountID = request.account.homeAccountID
      scopes = request.scopes
      authority = request.authority
    }

    /// Hashes what suffices to distinguish most calls of a program.
    func hash(into hasher: inout Hasher) {
      hasher.combine(homeAccountID)
      hasher.combine(scopes.first)
    }
  }

  private struct Answer {
    let result: AuthenticationResult
    /// When the token is fresh.
    let validity: ClosedRange<Date>
  }

  /// How many are remembered; when there are more, all are forgotten.
  private static let maximum = 20_000

  private var answers: [Call: Answer] = [:]
  private var version: UInt64?

  /// The result of a call, if it is still the same; `version` is the cache's ``TokenCacheAccessor/memoryVersion``.
  func result(of call: Call, version: UInt64, at now: Date) -> AuthenticationResult? {
    guard self.version == version, let answer = answers[call], answer.validity.contains(now) else {
      return nil
    }
    return answer.result
  }

  mutating func remember(
    _ result: AuthenticationResult, of call: Call, version: UInt64, validity: ClosedRange<Date>
  ) {
    if self.version != version || answers.count >= Self.maximum { answers = [:] }
    self.version = version
    answers[call] = Answer(result: result, validity: validity)
  }
}

extension PublicClient {
  /// The result of a silent call whose token came from the cache before, if it still would.
  func rememberedResult(of request: SilentRequest) -> AuthenticationResult? {
    guard let call = SilentAnswers.Call(request), let version = cache.memoryVersion else { return nil }
    let now = now()
    guard var result = answers.withLock({ $0.result(of: call, version: version, at: now) }) else {
      return nil
    }
    result.correlationID = request.correlationID
    noteTokenFromCache(request)
    return result
  }

  /// Remembers the result of a silent call whose token, of this lifetime, is fresh, and was found when the cache's memory
  /// had this version.
  func remember(
    _ result: AuthenticationResult, of request: SilentRequest, _ lifetime: TokenLifetime, at version: UInt64?
  ) {
    let now = now()
    guard let call = SilentAnswers.Call(request), let version, version == cache.memoryVersion,
      let end = lifetime.validUntil(buffer: configuration.tokenExpirationBuffer), now <= end
    else { return }
    answers.withLock { $0.remember(result, of: call, version: version, validity: now...end) }
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
