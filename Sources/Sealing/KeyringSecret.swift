import GLibSupport
import SecretService
import StoreSupport
import TokenCache

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
  private func found() throws(SecretServiceError) -> [ObjectPath] {
    let found = try connection.search([attribute.name: attribute.value], in: try unlocked(), cancellable)
    try connection.unlock(items: found.locked, prompt: mayPrompt, cancellable)
    return found.unlocked + found.locked
  }

  private func unlocked() throws(SecretServiceError) -> ObjectPath {
    let properties = try connection.collection(named: collection, cancellable)
    if properties.isLocked { try connection.unlock(properties.path, prompt: mayPrompt, cancellable) }
    return properties.path
  }
}

/// The key of a store: 64 hexadecimal digits, since some keyrings keep only text. The attribute of its item is the salt of the
/// key's `keys` file.
extension KeyringSecret {
  static let keySchema = "org.llavero.StoreKey"

  func createKey() throws(CacheError) -> [UInt8] {
    let secret = Array(hex(randomBytes(32)).utf8)
    do {
      _ = try connection.create(
        label: "Llavero: key of the file store (\(attribute.value.prefix(8)))",
        attributes: ["xdg:schema": Self.keySchema, attribute.name: attribute.value],
        secret: SecretBytes(copying: secret), in: unlocked(), prompt: mayPrompt, cancellable)
    } catch {
      throw CacheError(error, collection: collection)
    }
    return secret
  }

  func findKey() throws(CacheError) -> [UInt8] {
    try find(
      orThrow: CacheError(
        .wrongKey, "The keyring does not hold the key of the store.",
        advice:
          "Use the collection that has it, or restore the keyring. List the keys with \"secret-tool search --all "
          + "xdg:schema \(Self.keySchema)\"."))
  }

  func remove() throws(CacheError) {
    do {
      for item in try found() { try connection.delete(item, prompt: mayPrompt, cancellable) }
    } catch {
      throw CacheError(error, collection: collection)
    }
  }
}
