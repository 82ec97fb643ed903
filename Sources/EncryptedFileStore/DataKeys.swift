import Crypto
import FoundationEssentials
import GLibSupport

/// The keys that the files are sealed with: the present one, and those that files may still have during a
/// change of keys.
struct DataKeys: Sendable {
  struct Key: Sendable {
    /// 16 bytes.
    let id: [UInt8]
    let key: SymmetricKey

    static let idSize = 16
    static let size = idSize + 32

    init(id: [UInt8], key: SymmetricKey) {
      (self.id, self.key) = (id, key)
    }

    /// A new one.
    init() {
      self.init(id: randomBytes(Self.idSize), key: SymmetricKey(size: .bits256))
    }
  }

  let current: Key
  let older: [Key]

  var all: [Key] { [current] + older }

  subscript(id: [UInt8]) -> SymmetricKey? { all.first { $0.id == id }?.key }
}

func randomBytes(_ count: Int) -> [UInt8] {
  var generator = SystemRandomNumberGenerator()
  return (0..<count).map { _ in .random(in: 0...255, using: &generator) }
}
