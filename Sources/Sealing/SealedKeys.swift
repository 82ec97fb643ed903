package import Crypto
import CryptoExtras
package import FoundationEssentials
import GLibSupport
import SecretService

/// The value `keys`: the data keys, sealed with the key of the user's ``KeySource``. Section 7 of `CacheFormat.md` is the
/// specification.
package enum SealedKeys {
  private static let magic = Array("LLAVEROK".utf8)
  /// The bytes before the nonce, without the portal's token.
  private static let headerSize = 48
  private static let saltSize = 16
  private static let overhead = headerSize + SealedFormat.sealSize
  private static let maximumTokenSize = SecretPortal.maximumTokenSize
  package static let maximumSize = (1 << 16) + maximumTokenSize
  /// So many that a reader accepts the file, however long the token is.
  package static let maximumKeyCount = (maximumSize - maximumTokenSize - overhead) / DataKeys.Key.size

  /// The cost of trying a passphrase (RFC 7914): `128 * r * N` bytes of memory.
  package struct Scrypt: Equatable, Sendable {
    /// The binary logarithm of N.
    let logN: UInt32
    let r: UInt32
    let p: UInt32

    package init(logN: UInt32, r: UInt32, p: UInt32) {
      self.logN = logN
      self.r = r
      self.p = p
    }

    /// 128 MiB, some tenths of a second.
    package static let standard = Scrypt(logN: 17, r: 8, p: 1)
    fileprivate static let none = Scrypt(logN: 0, r: 0, p: 0)

    /// The memory for one try, in MiB.
    var mebibytes: Int { max((128 * Int(r) << Int(logN)) >> 20, 1) }

    /// Whether one try takes no more than 2 GiB: the file cannot be trusted before it was opened.
    package var isWithinLimits: Bool {
      (1...21).contains(logN) && (1...8).contains(r) && (1...16).contains(p)
    }
  }

  /// The unencrypted header: what a reader needs to find the key.
  package struct Header: Equatable {
    let kind: KeySource.Kind
    let salt: [UInt8]
    let scrypt: Scrypt
    /// The token by which the Secret portal finds the application's secret, if it returned one.
    package var token: String?

    package init(_ kind: KeySource.Kind, scrypt: Scrypt) {
      self.kind = kind
      salt = randomBytes(saltSize)
      self.scrypt = kind == .passphrase ? scrypt : .none
    }

    package init(_ file: [UInt8]) throws(SealError) {
      guard file.count <= maximumSize else {
        throw SealedFormat.problem(ofTooLarge: Array(file.prefix(16)), magic: magic)
      }
      try SealedFormat.check(file, magic: magic, minimumSize: overhead)
      guard let kind = KeySource.Kind(rawValue: file.bigEndian(at: 16)) else {
        throw .malformed("its kind of key is unknown.")
      }
      self.kind = kind
      salt = Array(file[20..<36])
      let size = SealedKeys.tokenSize(file)
      scrypt = Scrypt(
        logN: kind == .portal ? 0 : file.bigEndian(at: 36), r: file.bigEndian(at: 40),
        p: file.bigEndian(at: 44)
      )
      guard kind == .passphrase ? scrypt.isWithinLimits : scrypt == .none else {
        throw .malformed("its cost of a passphrase is invalid.")
      }
      guard size <= maximumTokenSize, file.count >= overhead + size,
        let token = String(validating: file[headerSize..<headerSize + size], as: UTF8.self)
      else { throw .malformed("its token for the portal is invalid.") }
      self.token = token.isEmpty ? nil : token
    }

    /// Derives the key that seals the data keys from a passphrase or from the bytes of a key.
    package func key(from secret: some DataProtocol) throws(SealError) -> SymmetricKey {
      guard kind == .passphrase else {
        return HKDF<SHA256>.deriveKey(
          inputKeyMaterial: SymmetricKey(data: Array(secret)), salt: salt,
          info: Array((kind == .portal ? "llavero portal" : "llavero keys").utf8), outputByteCount: 32)
      }
      let rounds = 1 << Int(scrypt.logN)
      do {
        return try KDF.Scrypt.deriveKey(
          from: Array(secret), salt: salt, outputByteCount: 32, rounds: rounds, blockSize: Int(scrypt.r),
          parallelism: Int(scrypt.p))
      } catch {
        // Its parameters were checked.
        throw .outOfMemory(mebibytes: scrypt.mebibytes)
      }
    }
  }

  /// The size of the portal's token in a file, in bytes.
  private static func tokenSize(_ file: [UInt8]) -> Int {
    let kind: UInt32 = file.bigEndian(at: 16)
    let size: UInt32 = file.bigEndian(at: 36)
    return kind == KeySource.Kind.portal.rawValue ? Int(size) : 0
  }

  package static func seal(
    _ keys: DataKeys, _ header: Header, with key: SymmetricKey, nonce: AES.GCM.Nonce = AES.GCM.Nonce()
  ) -> [UInt8] {
    var plain: [UInt8] = []
    plain.reserveCapacity(keys.all.count * DataKeys.Key.size)
    defer { wipe(&plain) }
    for key in keys.all {
      plain += key.id
      unsafe key.key.withUnsafeBytes { unsafe plain.append(contentsOf: $0) }
    }
    let token = Array((header.token ?? "").utf8)
    var file = magic
    file.append(bigEndian: SealedFormat.version)
    file.append(bigEndian: UInt32(overhead + token.count + plain.count))
    file.append(bigEndian: header.kind.rawValue)
    file += header.salt
    let first = header.kind == .portal ? UInt32(token.count) : header.scrypt.logN
    for number in [first, header.scrypt.r, header.scrypt.p] { file.append(bigEndian: number) }
    file += token
    return SealedFormat.sealed(plain, after: file, authenticating: file, using: key, nonce: nonce)
  }

  /// Opens a file whose header was checked.
  package static func open(_ file: [UInt8], with key: SymmetricKey) throws(SealError) -> DataKeys {
    let start = headerSize + tokenSize(file)
    guard
      var plain = SealedFormat.opened(
        file, after: start, authenticating: Array(file[..<start]), using: key)
    else { throw .wrongKey }
    defer { plain.resetBytes(in: plain.startIndex..<plain.endIndex) }
    var keys: [DataKeys.Key] = []
    var rest = plain[...]
    while rest.count >= DataKeys.Key.size {
      let id = Array(rest.prefix(DataKeys.Key.idSize))
      let key = SymmetricKey(data: rest.dropFirst(DataKeys.Key.idSize).prefix(32))
      keys.append(DataKeys.Key(id: id, key: key))
      rest = rest.dropFirst(DataKeys.Key.size)
    }
    guard let current = keys.first, rest.isEmpty else { throw .unreadable("it has no keys.") }
    return DataKeys(current: current, older: Array(keys.dropFirst()))
  }
}
