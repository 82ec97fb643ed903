import GLibSupport
import SecretService
import StoreSupport
import TokenCache

/// The key of a store in an item of the keyring: 64 hexadecimal digits, since some keyrings keep only text.
struct KeyringKey {
  static let schema = "org.llavero.StoreKey"
  /// The salt of the key's `keys` file, by which the item is found.
  let salt: [UInt8]
  let collection: String?
  let mayPrompt: Bool
  let connection: SecretServiceConnection
  let cancellable: Cancellable

  private var attributes: [String: String] { ["xdg:schema": Self.schema, "key": hex(salt)] }

  func create() throws(CacheError) -> [UInt8] {
    let secret = Array(hex(randomBytes(32)).utf8)
    do {
      let collection = try item.unlocked()
      _ = try connection.create(
        label: "Llavero: key of the file store (\(hex(salt.prefix(4))))", attributes: attributes,
        secret: SecretBytes(copying: secret), in: collection, prompt: mayPrompt, cancellable)
    } catch {
      throw CacheError(error, collection: collection)
    }
    return secret
  }

  func find() throws(CacheError) -> [UInt8] {
    try item.find(
      orThrow: CacheError(
        .wrongKey, "The keyring does not hold the key of the store.",
        advice:
          "Use the collection that has it, or restore the keyring. List the keys with \"secret-tool search --all "
          + "xdg:schema \(Self.schema)\"."))
  }

  func remove() throws(CacheError) {
    do {
      for item in try item.found() { try connection.delete(item, prompt: mayPrompt, cancellable) }
    } catch {
      throw CacheError(error, collection: collection)
    }
  }

  private var item: KeyringSecret {
    KeyringSecret(
      attribute: ("key", hex(salt)), collection: collection, mayPrompt: mayPrompt, connection: connection,
      cancellable: cancellable)
  }
}

/// The secret of a keyring item with an attribute.
struct KeyringSecret {
  let attribute: (name: String, value: String)
  let collection: String?
  let mayPrompt: Bool
  let connection: SecretServiceConnection
  let cancellable: Cancellable

  func find(orThrow absent: CacheError) throws(CacheError) -> [UInt8] {
    let secret: SecretBytes?
    do {
      secret = try connection.secrets(of: found(), cancellable).values.first { $0.count > 0 }
    } catch {
      throw CacheError(error, collection: collection)
    }
    guard let secret else { throw absent }
    return unsafe secret.withUnsafeBytes { unsafe Array($0) }
  }

  /// Finds the items and unlocks them.
  func found() throws(SecretServiceError) -> [ObjectPath] {
    let found = try connection.search([attribute.name: attribute.value], in: try unlocked(), cancellable)
    try connection.unlock(items: found.locked, prompt: mayPrompt, cancellable)
    return found.unlocked + found.locked
  }

  func unlocked() throws(SecretServiceError) -> ObjectPath {
    let properties = try connection.collection(named: collection, cancellable)
    if properties.isLocked { try connection.unlock(properties.path, prompt: mayPrompt, cancellable) }
    return properties.path
  }
}
