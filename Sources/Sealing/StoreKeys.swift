package import GLibSupport
package import StoreSupport
import Synchronization
package import TokenCache

/// The data keys of a store, which are unsealed once and again when somebody changed its `keys` value. Where that value
/// is kept, the store knows.
package final class StoreKeys: Sendable {
  private let environment: [String: String]
  private let busAddress: String?
  private let scrypt: SealedKeys.Scrypt
  private let timeout: Duration
  private let state: Mutex<State>
  /// A person may take minutes to find a passphrase; nothing that has its key waits for that.
  private let queue = BlockingQueue(label: "llavero.keys")

  private struct State {
    var source: KeySource
    /// The `keys` value that was unsealed, to the byte, and what was in it.
    var unsealed: (value: [UInt8], keys: DataKeys)?
  }

  /// The underlying error when the keys have yet to be unsealed, here or again.
  package struct NotUnsealed: StoreFailure {
    /// Whether there is no store yet, which a write is to make.
    package let isMissing: Bool
    package var disposition: Disposition { .unlock }
  }

  /// - Parameters:
  ///   - source: Where the key comes from, or is to come from.
  ///   - environment: Where credentials are looked for.
  ///   - busAddress: The session bus of the keyring; the environment's unless one is given.
  ///   - scrypt: What trying a passphrase of a new store costs.
  ///   - timeout: How long a key may take to come, waiting for a person aside.
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

  /// Runs work that calls ``keys(in:)``, and again after `unseal`, which calls one of the other methods, where the keys
  /// had to be unsealed first.
  package func withKeys<T: Sendable>(
    _ work: () async throws(CacheError) -> T,
    unsealing unseal: @escaping @Sendable (Cancellable) throws(CacheError) -> Void
  ) async throws(CacheError) -> T {
    for _ in 0..<8 {
      do throws(CacheError) {
        return try await work()
      } catch  where error.underlyingError is NotUnsealed {
        try await unsealing(unseal)
      }
    }
    return try await work()
  }

  /// Runs blocking work that unseals or makes the keys, in the time that its source may take.
  package func unsealing(
    _ unseal: @escaping @Sendable (Cancellable) throws(CacheError) -> Void
  ) async throws(CacheError) {
    try await run(patience: state.withLock(\.source).patience(timeout), unseal)
  }

  /// The keys in a `keys` value; `nil` for a store that has yet to be made.
  package func keys(in value: [UInt8]?) throws(CacheError) -> DataKeys {
    guard let value, let unsealed = state.withLock(\.unsealed), unsealed.value == value else {
      // What a caller sees of it who has unsealed them several times.
      throw CacheError(
        .refused, "The keys of the store changed again and again.", advice: "Try again.",
        underlyingError: NotUnsealed(isMissing: value == nil))
    }
    return unsealed.keys
  }

  /// Unseals a `keys` value.
  ///
  /// - Throws: ``CacheError``: what is wrong with the value, whose error says `name` and, where it is damaged, `advice`;
  ///   what its source throws.
  package func unseal(
    _ value: [UInt8], called name: String, advice: String, _ cancellable: Cancellable
  ) throws(CacheError) {
    let (source, unsealed) = state.withLock { ($0.source, $0.unsealed) }
    if unsealed?.value == value { return }
    func checking<T>(_ work: () throws(SealError) -> T) throws(CacheError) -> T {
      do {
        return try work()
      } catch {
        let isAnothers = error == .wrongKey && source.kind == .portal
        throw error.cacheError(
          of: name, advice: isAnothers ? Self.ofAnotherApplication : error.code == .damaged ? advice : nil)
      }
    }
    let header = try checking { () throws(SealError) in try SealedKeys.Header(value) }
    guard header.kind == source.kind else { throw SealError.otherKeySource(header.kind).cacheError(of: name) }
    let key = try source.key(header, surroundings(cancellable))
    let keys = try checking { () throws(SealError) in try SealedKeys.open(value, with: key) }
    state.withLock { $0.unsealed = (value, keys) }
  }

  private static let ofAnotherApplication =
    "Another application made it, or this one before it was installed anew. Nothing was changed: put the files back where "
    + "they came from, or move them away and sign in again."

  /// Makes the keys of a new store, whose value `write` keeps.
  package func make(
    _ cancellable: Cancellable, writing write: ([UInt8]) throws(CacheError) -> Void
  ) throws(CacheError) {
    let source = state.withLock(\.source)
    var header = SealedKeys.Header(source.kind, scrypt: scrypt)
    let keys = DataKeys(current: DataKeys.Key(), older: [])
    let key = try source.newKey(&header, surroundings(cancellable))
    let value = SealedKeys.seal(keys, header, with: key)
    try write(value)
    state.withLock { $0.unsealed = (value, keys) }
  }

  /// Puts new keys in place of those in a value, has everything sealed with them, and forgets the old ones when there is
  /// nothing left that they seal. At any moment the kept value holds the key of everything.
  ///
  /// - Parameters:
  ///   - value: The `keys` value.
  ///   - newSource: Where the key is to come from; from where it comes now unless another is named.
  ///   - cancellable: Ends the waiting for the keyring.
  ///   - write: Keeps a value.
  ///   - reseal: Seals everything with the present key, and says whether nothing was left.
  /// - Throws: ``CacheError``: what the sources and the closures throw, and `tooLarge` when there are too many old keys.
  package func change(
    _ value: [UInt8], to newSource: KeySource?, _ cancellable: Cancellable,
    writing write: ([UInt8]) throws(CacheError) -> Void,
    resealing reseal: (DataKeys) throws(CacheError) -> Bool
  ) throws(CacheError) {
    let old = try keys(in: value)
    guard old.all.count < SealedKeys.maximumKeyCount else {
      throw CacheError(
        .tooLarge, "The store has as many keys as it may, those of what cannot be opened.",
        advice: "Put that right first, or have what cannot be read removed.")
    }
    let source = state.withLock(\.source)
    let newSource = newSource ?? source
    let surroundings = surroundings(cancellable)
    var header = SealedKeys.Header(newSource.kind, scrypt: scrypt)
    let key = try newSource.newKey(&header, surroundings)
    func put(_ keys: DataKeys) throws(CacheError) {
      let value = SealedKeys.seal(keys, header, with: key)
      try write(value)
      state.withLock { $0 = State(source: newSource, unsealed: (value, keys)) }
    }
    let keys = DataKeys(current: DataKeys.Key(), older: old.all)
    try put(keys)
    if try reseal(keys) { try put(DataKeys(current: keys.current, older: [])) }
    // An item that stays opens nothing any more.
    if let header = try? SealedKeys.Header(value) { try? source.forgetKey(header, surroundings) }
  }

  /// Runs blocking work that changes the keys, in the time that two answers of a person and ten minutes take.
  package func changing<T: Sendable>(
    to newSource: KeySource?, _ work: @escaping @Sendable (Cancellable) throws(CacheError) -> T
  ) async throws(CacheError) -> T {
    let source = state.withLock(\.source)
    let patience = source.patience(timeout) + (newSource ?? source).patience(timeout) + .seconds(600)
    return try await run(patience: patience, work)
  }

  private func surroundings(_ cancellable: Cancellable) -> KeySource.Surroundings {
    KeySource.Surroundings(environment: environment, busAddress: busAddress, cancellable: cancellable)
  }

  private func run<T: Sendable>(
    patience: Duration, _ work: @escaping @Sendable (Cancellable) throws(CacheError) -> T
  ) async throws(CacheError) -> T {
    try await queue.run(
      timeout: patience, onCancel: CacheError(.cancelled, "Waiting for the store's key was cancelled."),
      onTimeout: CacheError(.timedOut, "The store's key did not come in time.", advice: "Try again."), work)
  }
}
