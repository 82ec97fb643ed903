package import GLibSupport
package import SecretService
package import TokenCache

/// How a store calls one collection of the keyring: once more when the service went away, and once more after unlocking.
package struct KeyringAccess: Sendable {
  package let connection: SecretServiceConnection
  /// The label or name of the collection; `nil` names the default one.
  package let collection: String?
  private let prompt: PromptPermission
  private let timeout: Duration
  /// A prompt may take minutes; nothing else waits for it.
  private let prompts = BlockingQueue(label: "llavero.prompts")

  package static let cancelled = CacheError(SecretServiceError.cancelled)
  package static let timedOut = CacheError(SecretServiceError.timedOut)

  package init(
    _ connection: SecretServiceConnection, collection: String?, prompt: PromptPermission, timeout: Duration
  ) {
    self.connection = connection
    self.collection = collection
    self.prompt = prompt
    self.timeout = timeout
  }

  package var mayPrompt: Bool { prompt != .denied }

  /// Runs blocking work on a queue, and once more after unlocking the collection if that is locked.
  package func run<T: Sendable>(
    on queue: BlockingQueue, _ work: @escaping @Sendable (Cancellable) throws(CacheError) -> T
  ) async throws(CacheError) -> T {
    try await unlocking { () async throws(CacheError) in
      try await queue.run(timeout: timeout, onCancel: Self.cancelled, onTimeout: Self.timedOut) {
        (cancellable) throws(CacheError) in
        try Self.reconnecting { () throws(CacheError) in try work(cancellable) }
      }
    }
  }

  /// Runs blocking work as a group's writer, and once more after unlocking the collection if that is locked.
  package func run<T: Sendable>(
    as writer: GroupWriter, _ work: @escaping @Sendable (Cancellable) throws(CacheError) -> T
  ) async throws(CacheError) -> T {
    try await unlocking { () async throws(CacheError) in
      try await writer.write(timeout: timeout) { (cancellable) throws(CacheError) in
        try Self.reconnecting { () throws(CacheError) in try work(cancellable) }
      }
    }
  }

  /// Runs blocking work, and once more if the keyring went away under it.
  private static func reconnecting<T>(_ work: () throws(CacheError) -> T) throws(CacheError) -> T {
    do throws(CacheError) {
      return try work()
    } catch  where error.underlyingError as? SecretServiceError == .serviceGone {
      return try work()
    }
  }

  /// Runs `body`, and once more after unlocking what was locked. Without permission to prompt only a provider that
  /// needs no prompt unlocks.
  private func unlocking<T: Sendable>(_ body: () async throws(CacheError) -> T) async throws(CacheError) -> T
  {
    // The collection, and after it perhaps items in it.
    for _ in 0..<2 {
      do {
        return try await body()
      } catch  where error.code == .locked {
        try await unlock(what: error)
      }
    }
    return try await body()
  }

  private func unlock(what error: CacheError) async throws(CacheError) {
    let patience: Duration = if case .allowed(let patience) = prompt { patience } else { timeout }
    try await prompts.run(timeout: patience, onCancel: Self.cancelled, onTimeout: Self.timedOut) {
      (cancellable) throws(CacheError) in
      try calling(collection: collection) { () throws(SecretServiceError) in
        if case .itemsLocked(let items) = error.underlyingError as? SecretServiceError {
          return try connection.unlock(items: items, prompt: mayPrompt, cancellable)
        }
        let path = try connection.path(ofCollection: collection, cancellable)
        try connection.unlock(path, prompt: mayPrompt, cancellable)
      }
    }
  }
}

extension ItemProperties {
  /// The attributes without those that providers add to every item: KeePassXC its entry's fields, oo7 the content type.
  package var ownAttributes: [String: String] {
    attributes.filter { !Self.providersAttributes.contains($0.key) }
  }

  private static let providersAttributes: Set<String> = [
    "FDO_SECRETS_CONTENT_TYPE", "Notes", "Path", "Title", "URL", "UserName", "Uuid", "xdg:content-type",
  ]
}
