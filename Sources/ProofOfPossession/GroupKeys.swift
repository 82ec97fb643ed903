import FoundationEssentials
import GLibSupport
public import IdentityClient
import Synchronization
public import TokenCache

/// An RSA key for each keychain group, made when it is first asked for and kept with the group: in the keyring, in
/// sealed files, wherever its store is.
///
/// All programs of the group use the same key, and tokens that are bound to it serve each of them. It never leaves the
/// group: it is neither exported nor imported. One that cannot be used any more is replaced by a new one; tokens that
/// were bound to it are then asked for again.
public final class GroupKeys: PopKeyProvider {
  /// The one that was used last, since reading one takes a thousand times as long as comparing it.
  private let last = Mutex<(secret: String, key: RSAKey)?>(nil)
  private let queue = BlockingQueue(label: "llavero.pop")

  public init() {}

  public func key(for cache: TokenCacheAccessor) async throws(CacheError) -> any PopKey {
    if let secret = try await cache.popKey(), let key = key(secret) { return key }
    let made = try await queue.run(timeout: .seconds(600), onCancel: .cancelled, onTimeout: .timedOut) {
      (_) throws(CacheError) in try RSAKey()
    }
    let secret = try await cache.savePopKey(made.secret) { (try? RSAKey(secret: $0)) != nil }
    guard let key = key(secret) else {
      throw CacheError(.damaged, "The key of the group cannot be read back.")
    }
    return key
  }

  /// `nil` for what is no key.
  private func key(_ secret: String) -> RSAKey? {
    if let known = last.withLock({ $0 }), known.secret == secret { return known.key }
    guard let key = try? RSAKey(secret: secret) else { return nil }
    last.withLock { $0 = (secret, key) }
    return key
  }
}

extension CacheError {
  fileprivate static let cancelled = CacheError(.cancelled, "The request was cancelled.")
  fileprivate static let timedOut = CacheError(.timedOut, "No key was made in time.")
}
