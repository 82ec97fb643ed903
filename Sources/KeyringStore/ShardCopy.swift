import FoundationEssentials
import SecretService
import StoreSupport
import TokenCache

/// One item that holds a shard. There should be one for each, but two keyring daemons or a program that does
/// not keep to the format may leave more.
struct ShardCopy {
  let path: ObjectPath
  /// Whether it has exactly a shard's attributes, as far as they were read.
  var isExact: Bool
  /// In seconds since 1970; 0 where it was not read.
  var modified: UInt64
  /// `nil` when there is nothing in the item, as after a crash of the daemon in the middle of CreateItem, or
  /// when it cannot be read.
  let document: CacheDocument?
  /// Why it cannot be read.
  let damage: CacheError?

  var isEmpty: Bool { document == nil && damage == nil }

  init(path: ObjectPath, isExact: Bool = true, modified: UInt64 = 0, secret: SecretBytes) {
    self.path = path
    self.isExact = isExact
    self.modified = modified
    do {
      document = secret.count == 0 ? nil : try CacheDocument(secret: secret)
      damage = nil
    } catch {
      document = nil
      damage = error
    }
  }
}

extension CacheDocument {
  /// Reads the secret of an item where it lies, in locked memory.
  fileprivate init(secret: SecretBytes) throws(CacheError) {
    self = try unsafe secret.withUnsafeBytes { (bytes) throws(CacheError) in
      guard let start = bytes.baseAddress else { return CacheDocument() }
      let json = unsafe Data(
        bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: bytes.count, deallocator: .none)
      return try CacheDocument(json: json)
    }
  }

  /// The secret of an item that holds this; `nil` when there is nothing to hold.
  func secret() throws(CacheError) -> SecretBytes? {
    if isEmpty { return nil }
    let secret = try unsafe withJSON { unsafe SecretBytes(copying: $0) }
    do {
      try secret.checkSize()
    } catch {
      throw CacheError(error)
    }
    return secret
  }
}
