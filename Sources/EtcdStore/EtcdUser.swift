import GLibSupport
public import Sealing
import SecretService
import StoreSupport
import Synchronization
import TokenCache

/// The store's etcd user, where etcd requires one.
public struct EtcdUser: Sendable {
  public let name: String
  /// Where the password comes from.
  public let password: KeySource

  /// - Parameters:
  ///   - name: The user's name.
  ///   - password: Where the password comes from, each time that etcd wants it: a file or a systemd credential which holds
  ///     it and perhaps a line end, an item of the keyring with the attribute `etcd-user` and the user's name as its value, or a
  ///     closure, which is called once.
  public init(name: String, password: KeySource) {
    self.name = name
    self.password = password
  }
}

/// The user's token, which etcd accepts for some minutes.
final class EtcdSession: Sendable {
  private let user: EtcdUser
  private let environment: [String: String]
  private let busAddress: String?
  private let state = Mutex(State())
  private let queue = BlockingQueue(label: "llavero.etcd.password")

  private struct State {
    /// Empty before the first request; `nil` in it where etcd has authentication disabled.
    var token: String??
    /// A password that a person gave, or unlocked the keyring for.
    var password: SecretBytes?
  }

  init(_ user: EtcdUser, environment: [String: String], busAddress: String?) {
    self.user = user
    self.environment = environment
    self.busAddress = busAddress
  }

  /// Lets the next request ask for another token, unless one did meanwhile.
  func forget(_ token: String?) {
    state.withLock { if $0.token == .some(token) { $0.token = .none } }
  }

  private var knownToken: String?? { state.withLock(\.token) }

  /// The token; `nil` where etcd requires none.
  func token(
    at endpoint: EtcdEndpoint, within timeout: Duration,
    _ authenticate:
      @escaping @Sendable (_ name: String, _ password: String) async throws(EtcdFailure) -> String?
  ) async throws(EtcdFailure) -> String? {
    if let token = knownToken { return token }
    @Sendable func failure(_ error: CacheError) -> EtcdFailure {
      EtcdFailure(.password(error), at: endpoint, outcomeIsUnknown: false)
    }
    // A request for the token ends earlier by itself. Where another call's was waited for, the next endpoint is asked.
    let isReadingPassword = Atomic(false)
    do throws(EtcdFailure) {
      return try await queue.run(
        timeout: timeout + EtcdBackend.margin, onCancel: failure(Self.cancelled),
        onTimeout: EtcdFailure(
          cause: .timedOut([]), reason: "The user's token for \(endpoint) did not come in time.")
      ) { [self] (cancellable) throws(EtcdFailure) in
        if let token = knownToken { return token }
        isReadingPassword.store(true, ordering: .relaxed)
        let password: SecretBytes
        do throws(CacheError) {
          password = try self.password(cancellable)
        } catch {
          throw failure(error)
        }
        isReadingPassword.store(false, ordering: .relaxed)
        let text = unsafe password.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
        do throws(EtcdFailure) {
          let token = try waiting(cancellable) { [user] () async throws(EtcdFailure) in
            try await authenticate(user.name, text)
          }
          state.withLock { $0.token = .some(token) }
          return token
        } catch {
          // The person is asked again.
          if error.cacheError.code == .wrongKey { state.withLock { $0.password = nil } }
          throw error
        }
      }
    } catch {
      guard error.isTransient, isReadingPassword.load(ordering: .relaxed) else { throw error }
      throw failure(Self.timedOut)
    }
  }

  /// How long a person has to be asked for the password, or for the keyring's; `nil` where none has, or was before.
  private var promptTimeout: Duration? {
    if state.withLock({ $0.password != nil }) { return nil }
    return switch user.password {
    case .passphrase: .seconds(600)
    case .keyring(_, .allowed(let time), _): time
    default: nil
    }
  }

  /// Throws where a person has to be asked first: a request has less time than that takes.
  func checkPassword() throws(CacheError) {
    if promptTimeout != nil {
      throw CacheError(.locked, "etcd's password is required.", disposition: .unlock)
    }
  }

  func askForPassword() async throws(CacheError) {
    guard let promptTimeout else { return }
    try await queue.run(timeout: promptTimeout, onCancel: Self.cancelled, onTimeout: Self.timedOut) {
      [self] (cancellable) throws(CacheError) in
      // Where another call was the first to ask, it is known by now.
      _ = try password(cancellable)
    }
  }

  private static let cancelled = CacheError(.cancelled, "Waiting for etcd's password was cancelled.")
  private static let timedOut = CacheError(
    .timedOut, "etcd's password did not come in time.", advice: "Try again.")

  private func password(_ cancellable: Cancellable) throws(CacheError) -> SecretBytes {
    let known = state.withLock(\.password)
    var source = user.password
    switch source {
    case .passphrase: if let known { return known }
    // A person has no time to answer within a request.
    case .keyring(let collection, .allowed, let allowsPlain) where known != nil:
      source = .keyring(collection: collection, allowsPlainSession: allowsPlain)
    default: break
    }
    do throws(CacheError) {
      let password = try source.password(
        of: "etcd's user \(user.name)", attribute: ("etcd-user", user.name), environment: environment,
        busAddress: busAddress, cancellable)
      if known != nil || promptTimeout != nil { state.withLock { $0.password = password } }
      return password
    } catch {
      // The keyring was locked again.
      guard let known, error.disposition == .unlock else { throw error }
      return known
    }
  }
}
