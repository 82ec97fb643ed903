import GLibSupport
public import SecretService
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

  /// KeePassXC responds to every new and every deleted item with a prompt, even where nothing is shown.
  package var mayPrompt: Bool { prompt != .denied }

  package func cacheError(_ failure: SecretServiceError) -> CacheError {
    CacheError(failure, collection: collection)
  }

  /// Unlocks what was locked. Without permission to prompt only a provider that needs no prompt does.
  package func unlock(_ failure: SecretServiceError) async throws(CacheError) {
    if case .noSuchCollection = failure, !mayPrompt { throw cacheError(failure) }
    let start = ContinuousClock.now
    let asked: [ObjectPath] = if case .itemsLocked(let items) = failure { items } else { [] }
    try await prompts.run(
      timeout: prompt.timeout ?? timeout, onCancel: Self.cancelled, onTimeout: Self.timedOut
    ) { [self] (cancellable) throws(CacheError) in
      // One answer is for all that were waiting for it.
      if mayPrompt, let last = dismissals.withLock({ $0[asked] }), last >= start {
        throw cacheError(.promptDismissed)
      }
      do throws(SecretServiceError) {
        if case .noSuchCollection = failure { return try connection.makeDefaultCollection(cancellable) }
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
        throw cacheError(error)
      }
    }
  }
}

extension SecretServiceError: StoreFailure {
  /// ``Disposition/retry`` if the service ended, ``Disposition/unlock`` for what is locked, and where a default collection can be
  /// made.
  public var disposition: Disposition {
    switch self {
    case .serviceGone: .retry
    case .collectionLocked, .itemsLocked, .promptRequired, .noSuchCollection("default"): .unlock
    default: .fatal
    }
  }

  /// Nothing says what the service made of a request without a reply.
  public var leavesOutcomeOpen: Bool { [.serviceGone, .timedOut, .cancelled].contains(self) }
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
