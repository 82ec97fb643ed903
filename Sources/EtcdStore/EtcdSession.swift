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
    _ authenticate: (_ name: String, _ password: String) async throws(EndpointProblem) -> String?
  ) async throws(EndpointProblem) -> String? {
    let known = state.withLock { ($0.token, $0.isKnown) }
    if known.1 { return known.0 }
    return try await turns.run(timeout: timeout) { error in
      EndpointProblem(
        .password(error.code, error.message, advice: error.advice), at: endpoint, isUnanswered: false)
    } work: { () async throws(EndpointProblem) -> String? in
      let known = state.withLock { ($0.token, $0.isKnown) }
      if known.1 { return known.0 }
      let password: SecretBytes
      do throws(CacheError) {
        password = try await self.password()
      } catch {
        throw EndpointProblem(
          .password(error.code, error.message, advice: error.advice), at: endpoint, isUnanswered: false)
      }
      let text = unsafe password.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
      let token = try await authenticate(user.name, text)
      state.withLock { ($0.token, $0.isKnown) = (token, true) }
      return token
    }
  }

  /// Asks a person for the password, where one has to give it and has not yet.
  func askForPassword() async throws(CacheError) {
    guard case .passphrase = user.password, state.withLock({ $0.password == nil }) else { return }
    try await turns.run(timeout: .seconds(600)) {
      $0
    } work: { () async throws(CacheError) in
      _ = try await password()
    }
  }

  private func password() async throws(CacheError) -> SecretBytes {
    if let password = state.withLock(\.password) { return password }
    // A person may take minutes.
    let patience: Duration = if case .passphrase = user.password { .seconds(600) } else { .seconds(120) }
    let password = try await queue.run(
      timeout: patience, onCancel: CacheError(.cancelled, "Waiting for etcd's password was cancelled."),
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
