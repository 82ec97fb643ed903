import GLibSupport
import Sealing
import SecretService
import Synchronization
import TokenCache

/// The user's token, which etcd takes for some minutes.
final class EtcdSession: Sendable {
  private let user: EtcdUser
  private let environment: [String: String]
  private let busAddress: String?
  private let state = Mutex(State())
  private let turns = Turns()
  private let queue = BlockingQueue(label: "llavero.etcd.password")

  private struct State {
    /// `nil` where etcd asks nobody for a user.
    var token: String?
    var isKnown = false
    /// A password that a person gave.
    var password: SecretBytes?
    /// Whether a person was asked for it, or for that of the keyring.
    var wasAsked = false
  }

  init(_ user: EtcdUser, environment: [String: String], busAddress: String?) {
    self.user = user
    self.environment = environment
    self.busAddress = busAddress
  }

  /// Lets the next request ask for another token, unless one did meanwhile.
  func forget(_ token: String?) {
    state.withLock { if $0.token == token { ($0.token, $0.isKnown) = (nil, false) } }
  }

  /// The token; `nil` where etcd asks for none.
  func token(
    at endpoint: EtcdEndpoint, within timeout: Duration,
    _ authenticate: (_ name: String, _ password: String) async throws(EtcdFailure) -> String?
  ) async throws(EtcdFailure) -> String? {
    let known = state.withLock { ($0.token, $0.isKnown) }
    if known.1 { return known.0 }
    let deadline = ContinuousClock.now + timeout
    return try await turns.run(timeout: timeout) { error in
      EtcdFailure(
        .password(error.code, error.message, advice: error.advice), at: endpoint, outcomeIsUnknown: false)
    } work: { () async throws(EtcdFailure) -> String? in
      let known = state.withLock { ($0.token, $0.isKnown) }
      if known.1 { return known.0 }
      let password: SecretBytes
      do throws(CacheError) {
        password = try await self.password(within: deadline - .now)
      } catch {
        throw EtcdFailure(
          .password(error.code, error.message, advice: error.advice), at: endpoint, outcomeIsUnknown: false)
      }
      let text = unsafe password.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
      let token = try await authenticate(user.name, text)
      state.withLock { ($0.token, $0.isKnown) = (token, true) }
      return token
    }
  }

  /// Asks a person for the password, or for the keyring's, where one has to give it and has not yet: a request has less
  /// time than that takes.
  func askForPassword() async throws(CacheError) {
    let patience: Duration
    switch user.password {
    case .passphrase: patience = .seconds(600)
    case .keyring(_, .allowed(let time), _): patience = time
    default: return
    }
    guard state.withLock({ !$0.wasAsked }) else { return }
    try await turns.run(timeout: patience) {
      $0
    } work: { () async throws(CacheError) in
      _ = try await password(within: patience)
      state.withLock { $0.wasAsked = true }
    }
  }

  private func password(within timeout: Duration) async throws(CacheError) -> SecretBytes {
    if let password = state.withLock(\.password) { return password }
    let password = try await queue.run(
      timeout: timeout, onCancel: CacheError(.cancelled, "Waiting for etcd's password was cancelled."),
      onTimeout: CacheError(.timedOut, "etcd's password did not come in time.", advice: "Try again.")
    ) { [user, environment, busAddress] (cancellable) throws(CacheError) in
      try user.password.password(
        of: "etcd's user \(user.name)", attribute: ("etcd-user", user.name), environment: environment,
        busAddress: busAddress, cancellable)
    }
    if case .passphrase = user.password { state.withLock { $0.password = password } }
    return password
  }
}
