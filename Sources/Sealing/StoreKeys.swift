package import GLibSupport
package import StoreSupport
import Synchronization
public import TokenCache

/// The data keys of a store, which are unsealed once and again after a change of its `keys` value. The store keeps that
/// value, and reads it for each call: a call that fails because the value was not unsealed is repeated by `GroupStore`,
/// after ``unseal(after:called:advice:reading:writing:)``.
public final class StoreKeys: Sendable {
  /// Names the directory of credentials.
  private let environment: [String: String]
  /// The session bus of the keyring; `nil` for the environment's.
  private let busAddress: String?
  /// The cost of trying a passphrase of a new store.
  private let scrypt: SealedKeys.Scrypt
  /// How long reading a key may take, without the user's answer.
  private let timeout: Duration
  private let state: Mutex<State>
  /// A user may take minutes to enter a passphrase; calls that have their key do not wait for that.
  private let queue = BlockingQueue(label: "llavero.keys")

  private struct State {
    var source: KeySource
    /// The exact `keys` value that was unsealed, and its contents.
    var unsealed: (value: [UInt8], keys: DataKeys)?
    /// How often the value was replaced by one that another key opens, or the same key anew.
    var changes = 0
  }

  package init(
    _ source: KeySource, environment: [String: String], busAddress: String?, scrypt: SealedKeys.Scrypt,
    timeout: Duration
  ) {
    self.environment = environment
    self.busAddress = busAddress
    self.scrypt = scrypt
    self.timeout = timeout
    state = Mutex(State(source: source))
  }

  /// Makes the keys of a store.
  ///
  /// - Parameters:
  ///   - source: The source of the key.
  ///   - timeout: How long reading a key may take, without the user's answer.
  public convenience init(_ source: KeySource, timeout: Duration) {
    self.init(
      source, environment: processEnvironment(), busAddress: nil, scrypt: .standard, timeout: timeout)
  }

  /// Unseals the keys, or makes those of a new store, for a call that failed because of that.
  ///
  /// - Parameters:
  ///   - failure: The error of the call.
  ///   - name: The name of the `keys` value in the store, for the beginning of a sentence.
  ///   - advice: What to do if the value is damaged.
  ///   - read: Reads the value; `nil` if the store does not exist. It is called on a thread that may block, as is `write`.
  ///   - write: Saves the value of a new store, unless another process has saved one meanwhile.
  /// - Throws: `CacheError`: `failure` if it has another cause; the error of the key's source and of the closures.
  public func unseal(
    after failure: CacheError, called name: String, advice: String,
    reading read: @escaping @Sendable () throws(CacheError) -> [UInt8]?,
    writing write: @escaping @Sendable ([UInt8]) throws(CacheError) -> Void
  ) async throws(CacheError) {
    guard case .unseal(let makingStore) = failure.disposition else { throw failure }
    try await unsealing { [self] (cancellable) throws(CacheError) in
      if let value = try read() {
        try unseal(value, called: name, advice: advice, cancellable)
      } else if makingStore {
        try write(make(cancellable))
      }
    }
  }

  /// Runs blocking work that unseals or makes the keys, within the timeout of their source.
  package func unsealing(
    _ unseal: @escaping @Sendable (Cancellable) throws(CacheError) -> Void
  ) async throws(CacheError) {
    try await run(timeout: state.withLock(\.source).timeout(timeout), unseal)
  }

  /// The keys in a `keys` value.
  ///
  /// - Parameter value: The value; `nil` if the store does not exist yet.
  /// - Returns: The keys.
  /// - Throws: `CacheError` with the disposition `unseal` if the value must be unsealed or made first.
  public func keys(in value: [UInt8]?) throws(CacheError) -> DataKeys {
    guard let value, let unsealed = state.withLock(\.unsealed), unsealed.value == value else {
      // A caller sees it only after several attempts to unseal.
      throw CacheError(
        .refused, "The keys of the store keep changing.", advice: "Try again.",
        disposition: .unseal(makingStore: value == nil))
    }
    return unsealed.keys
  }

  /// Whether the key is in a file: unsealing asks neither a person nor a service, and several calls may do it at once.
  package var areInFile: Bool { state.withLock(\.source).kind == .key }

  /// Unseals a `keys` value.
  ///
  /// - Throws: ``CacheError`` of the source, or of an invalid value, with `name` and, for damage, `advice`.
  package func unseal(
    _ value: [UInt8], called name: String, advice: String, _ cancellable: Cancellable
  ) throws(CacheError) {
    let (source, unsealed) = state.withLock { ($0.source, $0.unsealed) }
    if unsealed?.value == value { return }
    func checking<T>(_ result: @autoclosure () throws(SealError) -> T) throws(CacheError) -> T {
      do {
        return try result()
      } catch {
        let isForeign = error == .wrongKey && source.kind == .portal
        throw error.cacheError(
          of: name, advice: isForeign ? Self.foreignKeyAdvice : error.code == .damaged ? advice : nil)
      }
    }
    var header = try checking(SealedKeys.Header(value))
    guard header.kind == source.kind else { throw SealError.otherKeySource(header.kind).cacheError(of: name) }
    let key = try source.key(to: .open, &header, surroundings(cancellable))
    let keys = try checking(SealedKeys.open(value, with: key))
    state.withLock { $0.unsealed = (value, keys) }
  }

  private static let foreignKeyAdvice =
    "Another application made it, or this one before it was reinstalled. Nothing was changed: put the files back where "
    + "they came from, or move them away and sign in again."

  /// Makes the keys of a new store, whose value the caller writes. They are in force where that is what the store has then.
  package func make(_ cancellable: Cancellable) throws(CacheError) -> [UInt8] {
    let source = state.withLock(\.source)
    var header = SealedKeys.Header(source.kind, scrypt: scrypt)
    let keys = DataKeys(current: DataKeys.Key(), older: [])
    let key = try source.key(to: .set, &header, surroundings(cancellable))
    let value = SealedKeys.seal(keys, header, with: key)
    state.withLock { $0.unsealed = (value, keys) }
    return value
  }

  /// Replaces the keys in a value, seals everything with the new ones, and deletes the old ones when they seal nothing any
  /// longer. At any moment the written value has the keys of everything. `reseal` seals everything with the current key.
  /// Nothing is written once the caller has given up.
  package func change(
    _ value: [UInt8], to newSource: KeySource?, _ cancellable: Cancellable, _ pending: PendingCommit,
    writing write: ([UInt8]) throws(CacheError) -> Void,
    resealing reseal: (DataKeys, inout RekeySummary) throws(CacheError) -> Void
  ) throws(CacheError) -> RekeySummary {
    let old = try keys(in: value)
    guard old.all.count < SealedKeys.maximumKeyCount else {
      throw CacheError(
        .tooLarge, "The store has the most keys allowed, kept for parts that cannot be opened.",
        advice: "Restore these parts first, or remove what cannot be read.")
    }
    let source = state.withLock(\.source)
    let newSource = newSource ?? source
    let surroundings = surroundings(cancellable)
    var header = SealedKeys.Header(newSource.kind, scrypt: scrypt)
    let key = try newSource.key(to: .set, &header, surroundings)
    func put(_ keys: DataKeys) throws(CacheError) {
      let value = SealedKeys.seal(keys, header, with: key)
      try write(value)
      state.withLock { $0 = State(source: newSource, unsealed: (value, keys), changes: $0.changes + 1) }
    }
    let keys = DataKeys(current: DataKeys.Key(), older: old.all)
    guard pending.begin() else { throw Self.cancelled }
    do throws(CacheError) {
      try put(keys)
    } catch {
      pending.end(isUncertain: error.leavesOutcomeOpen)
      throw error
    }
    pending.end(isUncertain: false)
    var summary = RekeySummary()
    try reseal(keys, &summary)
    if summary.left == 0 { try put(DataKeys(current: keys.current, older: [])) }
    // If the old item cannot be removed, it opens nothing any longer.
    if let header = try? SealedKeys.Header(value) { try? source.forgetKey(header, surroundings) }
    return summary
  }

  /// Runs blocking work that changes the keys, within the timeouts of both sources and ten minutes. It begins again
  /// where the store has to be opened first, also because another process changed the keys meanwhile.
  package func changing(
    of store: some SealedStore, to newSource: KeySource?,
    _ work: @escaping @Sendable (Cancellable, PendingCommit) throws(CacheError) -> RekeySummary
  ) async throws(CacheError) -> RekeySummary {
    var attempts = 0
    while true {
      let (source, changes) = state.withLock { ($0.source, $0.changes) }
      let timeout = source.timeout(timeout) + (newSource ?? source).timeout(timeout) + .seconds(600)
      let pending = PendingCommit()
      do throws(CacheError) {
        return try await run(
          timeout: timeout, onTimeout: CacheError(.timedOut, "Changing the store's keys timed out.")
        ) { (cancellable) throws(CacheError) in
          try work(cancellable, pending)
        }
      } catch {
        guard case .unseal = error.disposition, attempts < 8 else {
          // First, since from then on no change begins.
          let explained = pending.explained(error)
          guard state.withLock(\.changes) != changes else { throw explained }
          throw error.afterChangeOfKeys(isSame: newSource == nil && source.kind == .key)
        }
        attempts += 1
        try await store.open(makingStore: false)
      }
    }
  }

  private static let cancelled = CacheError(.cancelled, "Waiting for the store's key was cancelled.")

  private func surroundings(_ cancellable: Cancellable) -> KeySource.Surroundings {
    KeySource.Surroundings(environment: environment, busAddress: busAddress, cancellable: cancellable)
  }

  private func run<T: Sendable>(
    timeout: Duration,
    onTimeout: CacheError = CacheError(.timedOut, "Reading the store's key timed out.", advice: "Try again."),
    _ work: @escaping @Sendable (Cancellable) throws(CacheError) -> T
  ) async throws(CacheError) -> T {
    try await queue.run(timeout: timeout, onCancel: Self.cancelled, onTimeout: onTimeout, work)
  }
}

extension CacheError {
  /// The error of a change of keys that failed when the new key, which may be the same, was in force.
  fileprivate func afterChangeOfKeys(isSame: Bool) -> CacheError {
    var error = self
    error.message =
      (isSame
        ? "The change of keys is not finished. "
        : "The new key opens the store by now, and the old one no longer. ") + message
    error.advice =
      isSame
      ? "Run it again to finish. The store's key is the same."
      : "Keep the new key. To finish, run the change again with it as the store's key."
    return error
  }
}
