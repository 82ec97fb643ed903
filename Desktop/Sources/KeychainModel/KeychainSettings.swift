import EncryptedFileStore
import FoundationEssentials
public import IdentityClient
import KeyringStore
import Sealing
public import SecretService
public import TokenCache

/// What the tool's variables say: `LLAVERO_GROUP`, `LLAVERO_STORE`, `LLAVERO_KEY`, `LLAVERO_COLLECTION`,
/// `LLAVERO_AUTHORITY` and `LLAVERO_CA_BUNDLE`.
public struct KeychainSettings: Sendable {
  /// The group to show first.
  public var group = KeychainGroup.default
  /// An authority that the person trusts although no cloud is known to have it.
  public var authority: Authority?
  /// A file with the certificates to trust in place of the system's.
  public var caBundle: String?
  /// The label or name of the keyring's collection; `nil` names the default one.
  public var collection: String?
  /// Where the files of other programs are, and which proxy to use.
  public let environment: [String: String]

  /// The error in an invalid setting. The window then only reports it.
  public private(set) var trouble: Trouble?

  private var key: KeySource?

  public init(environment: [String: String]) {
    self.environment = environment
    do throws(Trouble) {
      try read()
    } catch {
      trouble = error
    }
  }

  private mutating func read() throws(Trouble) {
    let environment = environment
    let variable = { (name: String) in environment["LLAVERO_" + name].flatMap { $0.isEmpty ? nil : $0 } }
    collection = variable("COLLECTION")
    caBundle = variable("CA_BUNDLE")
    if let name = variable("GROUP") {
      do throws(CacheError) {
        group = try KeychainGroup(name)
      } catch {
        throw .setting("LLAVERO_GROUP", error.description)
      }
    }
    if let address = variable("AUTHORITY") {
      do throws(IdentityError) {
        guard let url = URL(string: address) else {
          throw IdentityError(.invalidParameter, "It is no address.")
        }
        authority = try Authority(url: url)
      } catch {
        throw .setting("LLAVERO_AUTHORITY", error.description)
      }
    }
    switch variable("STORE") {
    case nil, "keyring": break
    case "file": key = try Self.key(variable("KEY"), collection: collection)
    default: throw .setting("LLAVERO_STORE", "It should be keyring or file.")
    }
  }

  /// A passphrase is not among them: the window has nowhere to ask for one.
  private static func key(_ text: String?, collection: String?) throws(Trouble) -> KeySource {
    let parts = (text ?? "").split(separator: ":", maxSplits: 1).map(String.init)
    switch (parts.first, parts.count) {
    case ("keyring", 1): return .keyring(collection: collection)
    case ("portal", 1): return .portal()
    case ("file", 2): return .keyFile(path: parts[1])
    case ("credential", 2): return .credential(name: parts[1])
    default:
      // Not quoted: the value may be the key itself, put there by mistake.
      throw .setting(
        "LLAVERO_KEY", "For this window it should be file:PATH, credential:NAME, keyring or portal.")
    }
  }

  /// The store that they choose.
  ///
  /// - Parameter prompt: Whether the keyring may ask for its password.
  /// - Returns: The store.
  public func store(prompt: PromptPermission = .denied) -> any CacheStore {
    if let key {
      if case .keyring = key {
        return EncryptedFileCacheStore(key: .keyring(collection: collection, prompt: prompt))
      }
      return EncryptedFileCacheStore(key: key)
    }
    return KeyringCacheStore(collection: collection, prompt: prompt)
  }
}

extension Trouble {
  fileprivate static func setting(_ name: String, _ reason: String) -> Trouble {
    Trouble(
      "A Setting Makes No Sense", "\(name) makes no sense: \(reason)", advice: "Set it right and start again."
    )
  }
}
