public import Foundation
import KeyringStore
import SecretService
public import TokenCache

/// Where tokens are kept.
open class MSALCacheConfig: NSObject, NSCopying {
  /// The keychain group: applications with the same one share their accounts. A name in reverse-DNS form.
  ///
  /// On iOS and macOS a group has to stand in the application's entitlements. Linux has nothing of the kind:
  /// every application can use every group.
  open var keychainSharingGroup = MSALCacheConfig.defaultKeychainSharingGroup()

  /// Where the group is kept; `nil` is the Secret Service keyring, with leave to ask for its password. MSAL for
  /// iOS and macOS offers no choice.
  ///
  /// For example, for a test:
  ///
  /// ```swift
  /// import TokenCache
  ///
  /// config.cacheConfig.store = InMemoryStore()
  /// ```
  open var store: (any CacheStore)?

  /// What ``addExternalAccountProvider(_:)`` was given.
  public private(set) var externalAccountProviders: [any MSALExternalAccountProviding] = []

  /// See `Inert`.
  var inert = Inert()

  override init() {}

  init(copying other: MSALCacheConfig) {
    keychainSharingGroup = other.keychainSharingGroup
    store = other.store
    externalAccountProviders = other.externalAccountProviders
    inert = other.inert
  }

  /// The group that MSAL for macOS uses unless told otherwise: `com.microsoft.identity.universalstorage`.
  open class func defaultKeychainSharingGroup() -> String { KeychainGroup.default.name }

  /// Adds a place where another library keeps accounts. It is asked when accounts are listed, and told when
  /// tokens were obtained and when an account is removed.
  open func addExternalAccountProvider(_ externalAccountProvider: any MSALExternalAccountProviding) {
    externalAccountProviders.append(externalAccountProvider)
  }

  /// A new object with the same values.
  open func copy(with zone: NSZone? = nil) -> Any { MSALCacheConfig(copying: self) }

  /// - Throws: An error in ``MSALErrorDomain`` for what is no name of a group.
  func accessor() throws -> TokenCacheAccessor {
    do {
      return TokenCacheAccessor(
        store: store ?? KeyringCacheStore(prompt: .allowed(waitingUpTo: .seconds(120))),
        group: try KeychainGroup(keychainSharingGroup))
    } catch {
      throw NSError(error)
    }
  }
}
