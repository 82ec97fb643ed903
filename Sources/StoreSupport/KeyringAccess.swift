package import GLibSupport
package import SecretService
import Synchronization
package import TokenCache

/// One collection of the keyring, as the stores in it use it.
package final class KeyringAccess: Sendable {
  package let connection: SecretServiceConnection
  /// The label or name of the collection; `nil` names the default one.
  package let collection: String?
  private let prompt: PromptPermission
  private let timeout: Duration
  /// A prompt may take minutes; nothing else waits for it.
  private let prompts = BlockingQueue(label: "llavero.prompts")
  /// When the user last dismissed a prompt for items or, without any, for the collection.
  private let dismissals = Mutex<[[ObjectPath]: ContinuousClock.Instant]>([:])

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

  /// The policy of a store whose calls begin again so often where the service ended.
  package func policy(retries: Int) -> StorePolicy {
    StorePolicy(timeout: timeout, onCancel: Self.cancelled, onTimeout: Self.timedOut, retries: retries)
  }

  /// KeePassXC responds to every new and every deleted item with a prompt, even where nothing is shown.
  package var mayPrompt: Bool { prompt != .denied }

  /// The result of calls to the service.
  package func calling<T>(
    _ result: @autoclosure () throws(SecretServiceError) -> T
  ) throws(CacheError) -> T {
    try Self.calling(in: collection, result())
  }

  /// The result of calls to the service about a collection. An autoclosure takes the type of its error from the call; a closure
  /// would have to name it.
  package static func calling<T>(
    in collection: String?, _ result: @autoclosure () throws(SecretServiceError) -> T
  ) throws(CacheError) -> T {
    do {
      return try result()
    } catch {
      throw CacheError(error, collection: collection)
    }
  }

  package func delete(_ items: some Sequence<ObjectPath>, _ cancellable: Cancellable) throws(CacheError) {
    for item in items { _ = try calling(connection.delete(item, prompt: mayPrompt, cancellable)) }
  }

  /// Unlocks what was locked. Without permission to prompt only a provider that needs no prompt does.
  package func unlock(_ failure: CacheError) async throws(CacheError) {
    guard let cause = failure.underlyingError as? SecretServiceError else { throw failure }
    if case .noSuchCollection = cause, !mayPrompt { throw failure }
    let start = ContinuousClock.now
    let asked: [ObjectPath] = if case .itemsLocked(let items) = cause { items } else { [] }
    try await prompts.run(
      timeout: prompt.timeout ?? timeout, onCancel: Self.cancelled, onTimeout: Self.timedOut
    ) { [self] (cancellable) throws(CacheError) in
      // One answer is for all that were waiting for it.
      if mayPrompt, let last = dismissals.withLock({ $0[asked] }), last >= start {
        throw CacheError(.promptDismissed, collection: collection)
      }
      do throws(SecretServiceError) {
        if case .noSuchCollection = cause { return try connection.makeDefaultCollection(cancellable) }
        if !asked.isEmpty { return try connection.unlock(items: asked, prompt: mayPrompt, cancellable) }
        let path = try connection.path(ofCollection: collection, cancellable)
        try connection.unlock(path, prompt: mayPrompt, cancellable)
      } catch {
        if error == .promptDismissed {
          dismissals.withLock { last in
            last = last.filter { $0.value >= start }
            last[asked] = .now
          }
        }
        throw CacheError(error, collection: collection)
      }
    }
  }
}

extension ItemProperties {
  /// The attributes without those that providers add to every item: KeePassXC its entry's fields, oo7 the content type.
  package var ownAttributes: [String: String] { Self.own(attributes) }

  /// The same of other attributes, such as those that are looked for.
  package static func own(_ attributes: [String: String]) -> [String: String] {
    attributes.filter { !providersAttributes.contains($0.key) }
  }

  private static let providersAttributes: Set<String> = [
    "FDO_SECRETS_CONTENT_TYPE", "Notes", "Path", "Title", "URL", "UserName", "Uuid", "xdg:content-type",
  ]
}
