package import Crypto
import FoundationEssentials
import GLibSupport

/// The keys that files are sealed with: the current one, and older ones of files during a change of keys.
public struct DataKeys: Sendable {
  package struct Key: Sendable {
    /// 16 bytes.
    package let id: [UInt8]
    package let key: SymmetricKey

    static let idSize = 16
    static let size = idSize + 32

    package init(id: [UInt8], key: SymmetricKey) {
      self.id = id
      self.key = key
    }

    package init() { self.init(id: randomBytes(Self.idSize), key: SymmetricKey(size: .bits256)) }
  }

  package let current: Key
  package let older: [Key]

  package init(current: Key, older: [Key]) {
    self.current = current
    self.older = older
  }

  package var all: [Key] { [current] + older }

  subscript(id: [UInt8]) -> SymmetricKey? { all.first { $0.id == id }?.key }
}
