import FoundationEssentials
import GLibSupport
import IdentityClient
import Synchronization
import TokenCache

/// Gets the tokens of a loan: the cached one, unless it grants more than the loan. A server is asked for each of them at
/// most once a minute, whatever borrowers request and whatever the server responds.
final class LoanTokens: Sendable {
  /// The least time between two renewals of a token.
  private static let pause = Duration.seconds(60)
  /// How long a token that is kept beside the cached one must be valid, in seconds.
  private static let validity = 300.0

  private typealias Outcome = Result<AuthenticationResult, IdentityError>

  private struct State {
    /// The renewal in progress, which other requests join.
    var renewal: Task<Outcome, Never>?
    /// When the last renewal began, and why it failed.
    var lastRenewal: Duration?
    var failure: IdentityError?
    /// The last token from a renewal for these scopes.
    var own: AuthenticationResult?
    /// The scopes beyond these that the server grants for these alone.
    var excess: Set<String> = []

    func allows(_ result: AuthenticationResult, _ scopes: [String]) -> Bool {
      RequestedScopes.excess(result.scopes, over: scopes).isSubset(of: excess)
    }
  }

  private let clock: LoanClock
  /// How long a borrower waits for a renewal. It goes on for the next one.
  private let renewalTimeout: Duration
  private let source: Lender.TokenSource
  private let states = Mutex<[[String]: State]>([:])

  init(_ clock: LoanClock, renewalTimeout: Duration, source: @escaping Lender.TokenSource) {
    self.clock = clock
    self.renewalTimeout = renewalTimeout
    self.source = source
  }

  func token(for query: TokenQuery) async throws(LoanRefusal) -> AuthenticationResult {
    let result: AuthenticationResult
    do throws(IdentityError) {
      result = try await freshToken(for: query)
    } catch {
      throw LoanRefusal(error)
    }
    guard isValid(result, for: query.minimumValidity) else {
      throw LoanRefusal(.shortLived, "The lender has no token that is valid for that long.")
    }
    return result
  }

  /// A token with no more than the server grants for these scopes alone. The cached one may have been requested
  /// with others.
  private func freshToken(for query: TokenQuery) async throws(IdentityError) -> AuthenticationResult {
    let scopes = query.scopes
    let cached = try await source(scopes, .never)
    let state = states.withLock { $0[scopes] ?? State() }
    let fitting = cached.flatMap { state.allows($0, scopes) ? $0 : nil }
    func isRefused(_ token: AuthenticationResult) -> Bool {
      LoanProtocol.hash(of: token.accessToken) == query.refusedHash
    }
    func serves(_ token: AuthenticationResult) -> Bool {
      !isRefused(token) && isValid(token, for: query.minimumValidity)
    }
    // An empty cache means that the account was signed out: then the kept token is not lent either.
    if let token = fitting ?? (cached == nil ? nil : state.own),
      serves(token), fitting != nil || isValid(token, for: Self.validity)
    {
      return token
    }
    guard let renewal = renewal(scopes, cached == nil ? .ifNeeded : .always) else {
      // The last one may have ended just now.
      let state = states.withLock { $0[scopes] ?? State() }
      // A token that is still valid serves, even if it expires earlier than requested.
      let known = [fitting, state.failure == nil ? state.own : nil].compactMap(\.self)
      let kept =
        known.first(where: serves) ?? (state.failure == nil ? known.first : known.first { !isRefused($0) })
      if let kept, isValid(kept, for: 0) { return kept }
      throw state.failure ?? .nothingToLend
    }
    do throws(IdentityError) {
      let call = BoundedCall<AuthenticationResult, IdentityError>(
        timeout: renewalTimeout, onCancel: .cancelled,
        onTimeout: IdentityError(.network, "The server has not responded yet."))
      return try await call.run { call in Task { call.finish(await renewal.value) } }
    } catch {
      guard let fitting, !isRefused(fitting), isValid(fitting, for: 0) else { throw error }
      return fitting
    }
  }

  private func isValid(_ result: AuthenticationResult, for seconds: Double) -> Bool {
    result.expiresOn.map { $0 >= clock.date + seconds } ?? false
  }

  /// The renewal in progress or a new one; `nil` where the last one is too recent.
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
    var outcome = await Result<_, IdentityError>(awaiting: try await source(scopes, renewal))
      .flatMap { $0.map(Outcome.success) ?? .failure(.nothingToLend) }
    return states.withLock { states in
      var state = states[scopes] ?? State()
      if case .success(let new) = outcome {
        if new.source != .cache { state.excess = RequestedScopes.excess(new.scopes, over: scopes) }
        if !state.allows(new, scopes) {
          // The cached token, because no server could be reached.
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
    .serverError, "The server issued no token that can be lent.")
}

extension LoanRefusal {
  /// Translates a failure of the sign-in layer for a borrower, without texts that may contain personal data.
  init(_ error: IdentityError) {
    let temporary = LoanRefusal(.temporarilyUnavailable, "The token cannot be renewed at present.")
    let failure = LoanRefusal(.serverError, "The lender failed: \(error.code.rawValue).")
    let signIn = LoanRefusal(.interactionRequired, "Sign-in required where the token is lent.")
    if let cacheError = error.cacheError {
      self =
        switch cacheError.code {
        case .signedOut: signIn
        case .locked: LoanRefusal(.interactionRequired, "The store is locked where the token is lent.")
        case .unavailable, .timedOut:
          LoanRefusal(.temporarilyUnavailable, "The store cannot be read at present.")
        case .invalidGroup, .invalidResponse, .damaged, .newerVersion, .wrongKey, .rolledBack, .tooLarge,
          .promptDismissed, .cancelled, .refused:
          failure
        }
    } else {
      self =
        switch error.code.category {
        case .actionRequired: signIn
        case .outage, .cancelled: temporary
        // A proxy may have responded in the server's place.
        case .other where [.unexpectedHTTPResponse, .invalidResponse].contains(error.code): temporary
        case .invalidArgument, .other: failure
        }
    }
  }
}
