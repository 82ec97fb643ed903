import GLibSupport
import SecretService
import StoreSupport
import TokenCache

/// The secret of a keyring item with an attribute.
struct KeyringSecret {
  typealias Attribute = (name: String, value: String)

  let attribute: Attribute
  let collection: String?
  let mayPrompt: Bool
  let connection: SecretServiceConnection
  let cancellable: Cancellable

  /// - Returns: `nil` if there is no item, or only empty ones.
  func find() throws(CacheError) -> [UInt8]? {
    let secrets = try KeyringAccess.calling(in: collection, connection.secrets(of: found(), cancellable))
    let secret = secrets.values.first { $0.count > 0 }
    return unsafe secret?.withUnsafeBytes { unsafe Array($0) }
  }

  func remove() throws(CacheError) {
    for item in try KeyringAccess.calling(in: collection, found()) {
      _ = try KeyringAccess.calling(in: collection, connection.delete(item, prompt: mayPrompt, cancellable))
    }
  }

  /// Finds the items and unlocks them.
  private func found() throws(SecretServiceError) -> [ObjectPath] {
    let found = try connection.search([attribute.name: attribute.value], in: try unlocked(), cancellable)
    try connection.unlock(items: found.locked, prompt: mayPrompt, cancellable)
    return found.unlocked + found.locked
  }

  private func unlocked() throws(SecretServiceError) -> ObjectPath {
    let properties: CollectionProperties
    do throws(SecretServiceError) {
      properties = try connection.collection(named: collection, cancellable)
    } catch  where error == .noSuchCollection("default") && mayPrompt {
      try connection.makeDefaultCollection(cancellable)
      properties = try connection.collection(named: collection, cancellable)
    }
    if properties.isLocked { try connection.unlock(properties.path, prompt: mayPrompt, cancellable) }
    return properties.path
  }

  static let keySchema = "org.llavero.StoreKey"

  /// Makes the key of a store: 64 hexadecimal digits, since some keyrings keep only text. The attribute of its item is the salt
  /// of the key's `keys` file.
  func createKey() throws(CacheError) -> [UInt8] {
    let secret = Array(hex(randomBytes(32)).utf8)
    _ = try KeyringAccess.calling(
      in: collection,
      connection.create(
        label: "Llavero: key of the file store (\(attribute.value.prefix(8)))",
        attributes: ["xdg:schema": Self.keySchema, attribute.name: attribute.value],
        secret: SecretBytes(copying: secret), in: unlocked(), prompt: mayPrompt, cancellable))
    return secret
  }
}
