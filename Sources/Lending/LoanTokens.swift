import FoundationEssentials
import IdentityClient
import LoanProtocol
import Synchronization
import TokenCache

/// Gets the tokens of a loan: what the cache has, unless that is more than the loan, and no more often a new one than one
/// borrower could have reason to ask for.
final class LoanTokens: Sendable {
  /// A borrower makes the lender renew no more often than this, whatever it says of its token.
  private static let pause = Duration.seconds(60)
  /// Of the token that is kept beside the cache's, in seconds.
  private static let validity = 300.0

  private struct State {
    var renewal: Task<Result<AuthenticationResult, IdentityError>, Never>?
    var lastForced: Duration?
    /// The last token that the server gave for these scopes alone.
    var own: AuthenticationResult?
    /// What the server grants to who asks for these scopes alone, beyond them.
    var excess: Set<String> = []

    mutating func note(_ result: AuthenticationResult, _ scopes: [String]) {
      own = result
      excess = RequestedScopes.excess(result.scopes, over: scopes)
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

  private func freshToken(for question: TokenQuestion) async throws(IdentityError) -> AuthenticationResult {
    let result = try await narrowToken(question.scopes)
    let isRefused = LoanProtocol.hash(of: result.accessToken) == question.refusedHash
    guard isRefused || !isGood(result, for: question.minimumValidity), mayRenew(question.scopes) else {
      return result
    }
    return try await renewed(question.scopes)
  }

  private func isGood(_ result: AuthenticationResult, for seconds: Double) -> Bool {
    result.expiresOn.map { $0 >= clock.date + seconds } ?? false
  }

  /// A token of no more than what the server gives to who asks for these scopes alone. The cache may have one that was
  /// asked for with others.
  private func narrowToken(_ scopes: [String]) async throws(IdentityError) -> AuthenticationResult {
    let result = try await source(scopes, false)
    let (isOfLoan, own) = states.withLock { states in
      if result.source != .cache { states[scopes, default: State()].note(result, scopes) }
      let state = states[scopes] ?? State()
      return (
        RequestedScopes.excess(result.scopes, over: scopes).isSubset(of: state.excess), state.own
      )
    }
    if isOfLoan { return result }
    if let own, isGood(own, for: Self.validity) { return own }
    let new = try await renewed(scopes)
    guard new.source == .cache else { return new }
    // Somebody else was faster, and may have asked for more.
    return try await renewed(scopes)
  }

  /// Whether a borrower may have the token renewed. Those who ask while that goes on join.
  private func mayRenew(_ scopes: [String]) -> Bool {
    states.withLock { states in
      var state = states[scopes] ?? State()
      if state.renewal != nil { return true }
      if let last = state.lastForced, clock.age - last < Self.pause { return false }
      state.lastForced = clock.age
      states[scopes] = state
      return true
    }
  }

  /// A new token; one request for all who want it at the same time.
  private func renewed(_ scopes: [String]) async throws(IdentityError) -> AuthenticationResult {
    let task = states.withLock { states in
      if let task = states[scopes]?.renewal { return task }
      let task = Task { [source] in
        let result: Result<AuthenticationResult, IdentityError>
        do throws(IdentityError) {
          result = .success(try await source(scopes, true))
        } catch {
          result = .failure(error)
        }
        self.states.withLock { states in
          states[scopes]?.renewal = nil
          if case .success(let new) = result, new.source != .cache {
            states[scopes, default: State()].note(new, scopes)
          }
        }
        return result
      }
      states[scopes, default: State()].renewal = task
      return task
    }
    return try await task.value.get()
  }
}

extension LoanRefusal {
  /// What a failure of the sign-in layer means for a borrower, without words that may name somebody.
  init(_ error: IdentityError) {
    switch error.code {
    case .interactionRequired, .serverDeclinedScopes, .serverProtectionPoliciesRequired,
      .workplaceJoinRequired, .insufficientDeviceStrength, .resetPasswordRequired, .accountRequired,
      .accountNotFound:
      self.init(.interactionRequired, 400, "Somebody has to sign in again where the token is lent.")
    case .cache where [.locked, .signedOut].contains(error.cacheError?.code):
      self.init(.interactionRequired, 400, "Somebody has to unlock the keyring where the token is lent.")
    case .network, .serverError, .unhandledResponse, .cancelled:
      self.init(.temporarilyUnavailable, 503, "The token cannot be renewed at present.")
    default:
      self.init(.serverError, 500, "The lender failed: \(error.code.rawValue).")
    }
  }
}
