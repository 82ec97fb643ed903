package import GLibSupport

/// A client of the Secret Service, the D-Bus API of gnome-keyring, KWallet, KeePassXC and others.
///
/// It has a bus connection of its own and an encrypted session, both opened when first needed. The blocking
/// calls run on a thread of their own, never on Swift's cooperative pool; when the task is cancelled or the
/// timeout passes, the caller resumes at once. A write that was given up may have been carried out all the same.
///
/// No call prompts unless the caller allows it.
///
/// For example:
///
/// ```swift
/// let keyring = SecretServiceClient()
/// let collection = try await keyring.collection()
/// print(collection.label, collection.isLocked)
/// ```
public final class SecretServiceClient: Sendable {
  /// The largest secret that is sent, in bytes: 32 MiB. D-Bus closes the connection over a message of 128 MiB.
  public static let maximumSecretSize = 32 << 20

  /// How long a call may take.
  public let timeout: Duration

  private let connection: SecretServiceConnection
  private let queue = BlockingQueue(label: "llavero.secret-service")
  /// A prompt may take minutes; other calls do not wait for it.
  private let promptQueue = BlockingQueue(label: "llavero.secret-service.prompts")

  /// - Parameters:
  ///   - busAddress: The D-Bus address of the bus to use; nil is the session bus.
  ///   - timeout: How long a call may take, connecting included.
  ///   - allowsPlainSession: Whether secrets may cross the bus as plaintext if the service refuses to encrypt them.
  ///     Otherwise every call fails with ``SecretServiceError/encryptionRefused`` then.
  public init(busAddress: String? = nil, timeout: Duration = .seconds(25), allowsPlainSession: Bool = false) {
    connection = SecretServiceConnection(busAddress: busAddress, allowsPlainSession: allowsPlainSession)
    self.timeout = timeout
  }

  /// Runs several blocking calls as one, within the time for a prompt, `timeout` or the client's own, on the client's thread.
  package func perform<T: Sendable>(
    _ prompt: PromptPermission = .denied, timeout: Duration? = nil,
    _ work: @escaping @Sendable (SecretServiceConnection, Cancellable) throws(SecretServiceError) -> T
  ) async throws(SecretServiceError) -> T {
    try await (prompt == .denied ? queue : promptQueue).run(
      timeout: prompt.timeout ?? timeout ?? self.timeout, onCancel: .cancelled, onTimeout: .timedOut
    ) { [connection] (cancellable) throws(SecretServiceError) in
      try work(connection, cancellable)
    }
  }
}

/// Whether the service may ask the user, for example for the keyring's password.
public enum PromptPermission: Hashable, Sendable {
  case denied
  /// The user has this long to answer. A prompt that is not answered by then stays open, but the call fails.
  case allowed(waitingUpTo: Duration)

  package var timeout: Duration? {
    if case .allowed(let timeout) = self { timeout } else { nil }
  }
}

extension SecretServiceClient {
  /// Finds a collection by its label or the last element of its object path.
  /// - Parameter name: The name; nil is the default collection.
  /// - Returns: The location and label, and whether it is locked now.
  /// - Throws: ``SecretServiceError``, `noSuchCollection` if it does not exist.
  public func collection(named name: String? = nil) async throws(SecretServiceError) -> CollectionProperties {
    try await perform { (connection, cancellable) throws(SecretServiceError) in
      try connection.retryingOnce { () throws(SecretServiceError) in
        try connection.collection(named: name, cancellable)
      }
    }
  }

  /// Lists all collections.
  public func collections() async throws(SecretServiceError) -> [CollectionProperties] {
    try await perform { (connection, cancellable) throws(SecretServiceError) in
      try connection.retryingOnce { () throws(SecretServiceError) in try connection.collections(cancellable) }
    }
  }

  /// Whether the collection is locked now.
  public func isLocked(_ collection: ObjectPath) async throws(SecretServiceError) -> Bool {
    try await perform { (connection, cancellable) throws(SecretServiceError) in
      try connection.isLocked(collection, cancellable)
    }
  }

  /// Unlocks the collection; does nothing if it is unlocked.
  /// - Throws: ``SecretServiceError``: `collectionLocked` if this needs a prompt that was not allowed,
  ///   `promptDismissed` if the user declined.
  public func unlock(
    _ collection: ObjectPath, prompt: PromptPermission = .denied
  ) async throws(SecretServiceError) {
    try await perform(prompt) { (connection, cancellable) throws(SecretServiceError) in
      try connection.unlock(collection, prompt: prompt != .denied, cancellable)
    }
  }

  /// Finds the items that have all of these attributes, and perhaps others.
  ///
  /// Leave `xdg:schema` out: gnome-keyring does not find items by it in a collection that was never unlocked.
  /// - Parameters:
  ///   - attributes: Names and values; none finds every item.
  ///   - collection: The collection to search; nil is all collections.
  /// - Returns: The locations of the unlocked and of the locked items.
  /// - Throws: ``SecretServiceError``: `collectionLocked` if `collection` is locked and shows no such item.
  public func search(
    _ attributes: [String: String], in collection: ObjectPath? = nil
  ) async throws(SecretServiceError) -> FoundItems {
    try await perform { (connection, cancellable) throws(SecretServiceError) in
      try connection.retryingOnce { () throws(SecretServiceError) in
        try connection.search(attributes, in: collection, cancellable)
      }
    }
  }

  /// Reads the secrets of these items in one call. Items that no longer exist are left out.
  /// - Throws: ``SecretServiceError``: `collectionLocked` if one of the items is locked.
  public func secrets(of items: [ObjectPath]) async throws(SecretServiceError) -> [ObjectPath: SecretBytes] {
    try await perform { (connection, cancellable) throws(SecretServiceError) in
      try connection.secrets(of: items, cancellable)
    }
  }

  /// Reads the item's attributes, label and times.
  /// - Throws: ``SecretServiceError``: `noSuchItem` if it does not exist.
  public func item(_ path: ObjectPath) async throws(SecretServiceError) -> ItemProperties {
    try await perform { (connection, cancellable) throws(SecretServiceError) in
      guard let item = try connection.item(path, cancellable) else { throw .noSuchItem }
      return item
    }
  }

  /// Makes a new item. It does not replace an item with the same attributes: both exist then.
  ///
  /// - Parameters:
  ///   - label: The name that keyring programs show. Not encrypted by every service.
  ///   - attributes: The attributes to find the item by. By convention `xdg:schema` names the kind of item. Not
  ///     encrypted by every service.
  ///   - secret: The secret, of at most ``maximumSecretSize`` bytes.
  ///   - collection: The collection of the item.
  ///   - prompt: Whether the service may ask the user first; some do for every new item.
  /// - Returns: The location of the item.
  /// - Throws: ``SecretServiceError``: `collectionLocked`, `promptRequired`, `itemTooLarge`.
  public func create(
    label: String, attributes: [String: String], secret: SecretBytes, in collection: ObjectPath,
    prompt: PromptPermission = .denied
  ) async throws(SecretServiceError) -> ObjectPath {
    try await perform(prompt) { (connection, cancellable) throws(SecretServiceError) in
      try connection.create(
        label: label, attributes: attributes, secret: secret, in: collection, prompt: prompt != .denied,
        cancellable)
    }
  }

  /// Replaces the item's secret; its label and attributes stay.
  /// - Returns: The location of the item, which is new in oo7: it does not keep a secret that was changed in place.
  /// - Throws: ``SecretServiceError``: `collectionLocked`, `noSuchItem`, `itemTooLarge`.
  @discardableResult
  public func setSecret(
    _ secret: SecretBytes, of item: ObjectPath
  ) async throws(SecretServiceError) -> ObjectPath {
    try await perform { (connection, cancellable) throws(SecretServiceError) in
      try connection.setSecret(item, secret, cancellable)
    }
  }

  /// Deletes the item.
  /// - Throws: ``SecretServiceError``: `noSuchItem` if it does not exist, `promptRequired`.
  public func delete(
    _ item: ObjectPath, prompt: PromptPermission = .denied
  ) async throws(SecretServiceError) {
    try await perform(prompt) { (connection, cancellable) throws(SecretServiceError) in
      guard try connection.delete(item, prompt: prompt != .denied, cancellable) else { throw .noSuchItem }
    }
  }
}
