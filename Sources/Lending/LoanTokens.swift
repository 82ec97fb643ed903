import FoundationEssentials
import IdentityClient
import Synchronization
import TokenCache

/// Gets the tokens of a loan: what the cache has, unless that is more than the loan. A server is asked for each of them no
/// more than once a minute, whatever borrowers say and whatever it answers.
final class LoanTokens: Sendable {
  /// How long the outcome of a renewal stands.
  private static let pause = Duration.seconds(60)
  /// Of the token that is kept beside the cache's, in seconds.
  private static let validity = 300.0

  private typealias Outcome = Result<AuthenticationResult, IdentityError>

  private struct State {
    /// The renewal that goes on. Those who want one meanwhile join.
    var renewal: Task<Outcome, Never>?
    /// When the last one began, and why it brought nothing.
    var lastRenewal: Duration?
    var failure: IdentityError?
    /// The last token that was got for these scopes.
    var own: AuthenticationResult?
    /// What the server grants for these scopes alone, beyond them.
    var excess: Set<String> = []

    func allows(_ result: AuthenticationResult, _ scopes: [String]) -> Bool {
      RequestedScopes.excess(result.scopes, over: scopes).isSubset(of: excess)
    }
  }

  private let clock: LoanClock
  private let source: Lender.TokenSource
  private let states = Mutex<[[String]: State]>([:])

  init(_ clock: LoanClock, source: @escaping Lender.TokenSource) {
    self.clock = clock
    self.source = source
  }

  /// - Throws: ``LoanRefusal``.
  func token(for question: TokenQuestion) async throws(LoanRefusal) -> AuthenticationResult {
    let result: AuthenticationResult
    do throws(IdentityError) {
      result = try await freshToken(for: question)
    } catch {
      throw LoanRefusal(error)
    }
    guard isGood(result, for: question.minimumValidity) else {
      throw LoanRefusal(.shortLived, 400, "No token could be had that is good for that long.")
    }
    return result
  }

  /// A token of no more than the server grants for these scopes alone. The cache may have one that was
  /// asked for with others.
  private func freshToken(for question: TokenQuestion) async throws(IdentityError) -> AuthenticationResult {
    let scopes = question.scopes
    let cached = try await source(scopes, .never)
    let state = states.withLock { $0[scopes] ?? State() }
    let fitting = cached.flatMap { state.allows($0, scopes) ? $0 : nil }
    // Where the cache has nothing any more the own one is no longer anybody's.
    if let token = fitting ?? (cached == nil ? nil : state.own),
      LoanProtocol.hash(of: token.accessToken) != question.refusedHash,
      isGood(token, for: max(question.minimumValidity, fitting == nil ? Self.validity : 0))
    {
      return token
    }
    guard let renewal = renewal(scopes, cached == nil ? .ifNeeded : .always) else {
      // A token that is still valid serves, even if it is shorter than asked for.
      if let token = fitting ?? (state.failure == nil ? state.own : nil), isGood(token, for: 0) {
        return token
      }
      throw state.failure ?? .nothingToLend
    }
    return try await renewal.value.get()
  }

  private func isGood(_ result: AuthenticationResult, for seconds: Double) -> Bool {
    result.expiresOn.map { $0 >= clock.date + seconds } ?? false
  }

  /// A new token, by one request for all who want it at the same time; `nil` where the last one is too recent.
  private func renewal(_ scopes: [String], _ renewal: Lender.Renewal) -> Task<Outcome, Never>? {
    states.withLock { states in
      var state = states[scopes] ?? State()
      if let renewal = state.renewal { return renewal }
      if let last = state.lastRenewal, clock.age - last < Self.pause { return nil }
      let task = Task { await self.renew(scopes, renewal) }
      (state.lastRenewal, state.renewal) = (clock.age, task)
      states[scopes] = state
      return task
    }
  }

  private func renew(_ scopes: [String], _ renewal: Lender.Renewal) async -> Outcome {
    var outcome: Outcome
    do throws(IdentityError) {
      let new = try await source(scopes, renewal)
      outcome = new.map(Outcome.success) ?? .failure(.nothingToLend)
    } catch {
      outcome = .failure(error)
    }
    return states.withLock { states in
      var state = states[scopes] ?? State()
      if case .success(let new) = outcome {
        if new.source != .cache { state.excess = RequestedScopes.excess(new.scopes, over: scopes) }
        if !state.allows(new, scopes) {
          // The cache's own, where no server could be asked.
          outcome = .failure(.nothingToLend)
        }
      }
      (state.renewal, state.failure) = (nil, nil)
      switch outcome {
      case .success(let new): state.own = new
      case .failure(let error): state.failure = error
      }
      states[scopes] = state
      return outcome
    }
  }
}

extension IdentityError {
  fileprivate static let nothingToLend = IdentityError(
    .serverError, "The server gave no token that can be lent.")
}

extension LoanRefusal {
  /// What a failure of the sign-in layer means for a borrower, without words that may contain personal data.
  init(_ error: IdentityError) {
    switch error.code {
    case .interactionRequired, .serverDeclinedScopes, .serverProtectionPoliciesRequired,
      .workplaceJoinRequired, .insufficientDeviceStrength, .resetPasswordRequired, .accountRequired,
      .accountNotFound:
      self.init(.interactionRequired, 400, "Somebody has to sign in again where the token is lent.")
    case .cache where [.locked, .signedOut].contains(error.cacheError?.code):
      self.init(.interactionRequired, 400, "Somebody has to unlock the keyring where the token is lent.")
    case .network, .serverError, .unhandledResponse, .unexpectedHTTPResponse, .invalidResponse, .cancelled:
      self.init(.temporarilyUnavailable, 503, "The token cannot be renewed at present.")
    default:
      self.init(.serverError, 500, "The lender failed: \(error.code.rawValue).")
    }
  }
}
