package import Crypto
package import FoundationEssentials
import GLibSupport
package import TokenCache

/// The format of sealed files; section 7 of `CacheFormat.md` is the specification.
///
/// The header says what the file is, the seal (AES-256-GCM) proves it, and the check sum at the end distinguishes an
/// accident from an attack.
public enum SealedFormat {
  package static let version: UInt32 = 1
  static let magic = Array("LLAVEROS".utf8)
  package static let nameSize = 16
  /// The bytes before the nonce.
  static let headerSize = 72
  static let checkSumSize = 16
  /// The bytes of the nonce, the tag and the check sum.
  static let sealSize = 12 + 16 + checkSumSize
  package static let overhead = headerSize + sealSize

  /// The longest document, in bytes, as in the keyring.
  package static let maximumDocumentSize = 32 << 20
  package static let maximumFileSize = 2 * maximumDocumentSize + overhead

  /// The greatest sequence number. No honest writer comes near it, so that no number ever wraps.
  package static let maximumSequence = UInt64(Int64.max)

  /// A part of a group.
  package struct Identity {
    let group: KeychainGroup
    /// The bytes of the shard's id; zeros for the manifest.
    let name: [UInt8]

    package init(group: KeychainGroup, name: [UInt8]) {
      self.group = group
      self.name = name
    }
  }

  package struct Opened {
    /// The number of the group's write.
    package let sequence: UInt64
    package var contents: Data

    package mutating func wipe() { contents.resetBytes(in: contents.startIndex..<contents.endIndex) }
  }

  /// Seals contents, padded so that the file's size reveals little.
  package static func seal(
    _ contents: UnsafeRawBufferPointer, as identity: Identity, sequence: UInt64, with key: DataKeys.Key,
    nonce: AES.GCM.Nonce = AES.GCM.Nonce()
  ) -> [UInt8] {
    let size = paddedSize(contents.count + 4)
    var plain: [UInt8] = []
    plain.reserveCapacity(size)
    plain.append(bigEndian: UInt32(contents.count))
    unsafe plain.append(contentsOf: contents)
    plain.append(contentsOf: repeatElement(0, count: size - plain.count))
    defer { wipe(&plain) }

    var file = magic
    file.append(bigEndian: version)
    file.append(bigEndian: UInt32(overhead + size))
    file += key.id + identity.name + groupDigest(identity.group)
    file.append(bigEndian: sequence)
    return sealed(
      plain, after: file, authenticating: file + Array(identity.group.name.utf8), using: key.key, nonce: nonce
    )
  }

  /// A header with the nonce, the sealed bytes, their tag and the check sum.
  static func sealed(
    _ plain: [UInt8], after header: [UInt8], authenticating associated: [UInt8], using key: SymmetricKey,
    nonce: AES.GCM.Nonce
  ) -> [UInt8] {
    guard let box = try? AES.GCM.seal(plain, using: key, nonce: nonce, authenticating: associated),
      let sealed = box.combined
    else { preconditionFailure("every key has 256 bits") }
    let file = header + sealed
    return file + checkSum(file)
  }

  /// Opens what is sealed after a header; `nil` if it was not sealed with this key and these associated bytes.
  static func opened(
    _ file: [UInt8], after headerSize: Int, authenticating associated: [UInt8], using key: SymmetricKey
  ) -> Data? {
    guard let box = try? AES.GCM.SealedBox(combined: file[headerSize..<file.count - checkSumSize]) else {
      return nil
    }
    return try? AES.GCM.open(box, using: key, authenticating: associated)
  }

  /// Checks a file and returns its contents.
  package static func open(
    _ file: [UInt8], as identity: Identity, with keys: DataKeys
  ) throws(SealError) -> Opened {
    try check(file, magic: magic, minimumSize: overhead)
    guard Array(file[32..<48]) == identity.name, Array(file[48..<64]) == groupDigest(identity.group) else {
      throw .misplaced
    }
    guard let key = keys[keyID(of: file)] else { throw .unknownKey }
    let associated = Array(file[..<headerSize]) + Array(identity.group.name.utf8)
    guard var plain = opened(file, after: headerSize, authenticating: associated, using: key) else {
      throw .forged
    }
    let size = plain.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    let sequence: UInt64 = file.bigEndian(at: 64)
    let fault: String? =
      if size > plain.count - 4 {
        "its length is not that of its contents."
      } else if sequence > maximumSequence { "its sequence number is too great." } else { nil }
    if let fault {
      plain.resetBytes(in: plain.startIndex..<plain.endIndex)
      throw .unreadable(fault)
    }
    return Opened(sequence: sequence, contents: plain.dropFirst(4).prefix(size))
  }

  /// The id, in the header, of the key that a file was sealed with.
  static func keyID(of file: [UInt8]) -> [UInt8] { Array(file.prefix(32).dropFirst(16)) }

  /// Checks everything that needs no key and is the same in every version: the beginning, length, check sum and version.
  static func check(_ file: [UInt8], magic: [UInt8], minimumSize: Int) throws(SealError) {
    guard file.starts(with: magic) else {
      // A file system without journal may leave an empty file, or zeros.
      throw magic.starts(with: file) ? .wrongLength(size: file.count, expected: minimumSize) : .notSealed
    }
    guard file.count >= 16 else { throw .wrongLength(size: file.count, expected: minimumSize) }
    let size = Int(file.bigEndian(at: 12) as UInt32)
    guard size == file.count else { throw .wrongLength(size: file.count, expected: size) }
    guard file.suffix(checkSumSize).elementsEqual(checkSum(file.dropLast(checkSumSize))) else {
      throw .corrupt
    }
    let version: UInt32 = file.bigEndian(at: 8)
    guard version == Self.version else { throw .newerVersion(version) }
    guard size >= minimumSize else { throw .wrongLength(size: size, expected: minimumSize) }
  }

  /// What a file is whose size is more than this version's most, by its first 16 bytes.
  package static func problem(ofTooLarge beginning: [UInt8], magic: [UInt8] = magic) -> SealError {
    guard beginning.count >= 16, beginning.starts(with: magic) else { return .notSealed }
    let version: UInt32 = beginning.bigEndian(at: 8)
    return version == Self.version ? .corrupt : .newerVersion(version)
  }

  /// The check sum, against accidents only: it needs no key.
  package static func checkSum(_ bytes: some DataProtocol) -> [UInt8] {
    Array(SHA256.hash(data: bytes).prefix(checkSumSize))
  }

  private static func groupDigest(_ group: KeychainGroup) -> [UInt8] {
    Array(SHA256.hash(data: Array(group.name.utf8)).prefix(16))
  }

  /// The next power of two, 4096 at least.
  private static func paddedSize(_ size: Int) -> Int {
    max(4096, 1 << (Int.bitWidth - (size - 1).leadingZeroBitCount))
  }
}

// Inlinable: in calls from other modules unspecialized code would be slow.
extension [UInt8] {
  /// Appends a number, its most significant byte first.
  @inlinable
  package mutating func append<Number: FixedWidthInteger>(bigEndian number: Number) {
    for shift in stride(from: Number.bitWidth - 8, through: 0, by: -8) {
      append(UInt8(truncatingIfNeeded: number >> shift))
    }
  }

  /// The number at an offset, its most significant byte first.
  @inlinable
  package func bigEndian<Number: FixedWidthInteger>(at offset: Int) -> Number {
    self[offset..<offset + Number.bitWidth / 8].reduce(0) { $0 << 8 | Number($1) }
  }
}
