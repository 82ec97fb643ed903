public import Foundation
import KeyringStore
import SecretService
public import TokenCache

/// The configuration of the token cache.
open class MSALCacheConfig: NSObject, NSCopying {
  /// The keychain group: applications with the same one share their accounts. A name in reverse-DNS form.
  ///
  /// On iOS and macOS a group has to be in the application's entitlements. Linux has no counterpart: every application can
  /// use every group.
  open var keychainSharingGroup = MSALCacheConfig.defaultKeychainSharingGroup()

  /// The store of the group; `nil` is the Secret Service keyring, which may prompt for its password. MSAL for iOS and macOS
  /// has no counterpart.
  ///
  /// For example, for a test:
  ///
  /// ```swift
  /// import TokenCache
  ///
  /// config.cacheConfig.store = InMemoryStore()
  /// ```
  open var store: (any CacheStore)?

  /// The providers from ``addExternalAccountProvider(_:)``.
  public private(set) var externalAccountProviders: [any MSALExternalAccountProviding] = []

  /// Has no effect: no cache of ADAL is read. It keeps what it is set to.
  public var serializedADALCache: MSALSerializedADALCacheProvider?

  /// Has no effect: a keyring of Linux has no list of programs for each item. It keeps what it is set to.
  public var trustedApplications: [Any] = []

  override init() {}

  init(copying other: MSALCacheConfig) {
    keychainSharingGroup = other.keychainSharingGroup
    store = other.store
    externalAccountProviders = other.externalAccountProviders
    serializedADALCache = other.serializedADALCache
    trustedApplications = other.trustedApplications
  }

  /// The default group of MSAL for macOS: `com.microsoft.identity.universalstorage`.
  open class func defaultKeychainSharingGroup() -> String { KeychainGroup.default.name }

  /// Adds a provider of another library's accounts. It is queried when accounts are listed, and called when tokens were
  /// obtained and when an account is removed.
  open func addExternalAccountProvider(_ externalAccountProvider: any MSALExternalAccountProviding) {
    externalAccountProviders.append(externalAccountProvider)
  }

  /// A new object with the same values.
  open func copy(with zone: NSZone? = nil) -> Any { MSALCacheConfig(copying: self) }

  func accessor() throws -> TokenCacheAccessor {
    do {
      return TokenCacheAccessor(
        store: store ?? KeyringCacheStore(prompt: .allowed()),
        group: try KeychainGroup(keychainSharingGroup))
    } catch {
      throw NSError(error)
    }
  }
}
