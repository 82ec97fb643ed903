import FoundationEssentials
import GLibSupport
public import IdentityClient
import Synchronization
public import TokenCache

/// One RSA key per keychain group, made on first use and kept in the group's store, such as the keyring or encrypted
/// files.
///
/// All programs of the group share the key and the tokens that are bound to it. It is neither exported nor imported. An
/// invalid key is replaced by a new one, and tokens that were bound to it are requested again.
///
/// For example:
///
/// ```swift
/// let client = PublicClient(
///   configuration: configuration, cache: cache, transport: transport,
///   popKeys: GroupKeys())
/// ```
public final class GroupKeys: PopKeyProvider {
  /// The last key, since decoding one takes a thousand times as long as comparing its text.
  private let last = Mutex<(secret: String, key: RSAKey)?>(nil)
  private let queue = BlockingQueue(label: "llavero.pop")

  public init() {}

  public func key(for cache: TokenCacheAccessor) async throws(CacheError) -> any PopKey {
    if let secret = try await cache.popKey(), let key = key(secret) { return key }
    let made = try await queue.run(
      timeout: .seconds(600), onCancel: CacheError(.cancelled, "The request was cancelled."),
      onTimeout: CacheError(.timedOut, "The key was not made in time.")
    ) { (_) throws(CacheError) in try RSAKey() }
    let secret = try await cache.savePopKey(made.secret) { (try? RSAKey(secret: $0)) != nil }
    guard let key = key(secret) else {
      throw CacheError(.damaged, "The saved key of the group is invalid.")
    }
    return key
  }

  /// `nil` for an invalid key.
  private func key(_ secret: String) -> RSAKey? {
    if let known = last.withLock({ $0 }), known.secret == secret { return known.key }
    guard let key = try? RSAKey(secret: secret) else { return nil }
    last.withLock { $0 = (secret, key) }
    return key
  }
}
