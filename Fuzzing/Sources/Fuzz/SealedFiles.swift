import Crypto
@testable import EncryptedFileStore
import FoundationEssentials
@testable import Sealing
@testable import TokenCache

/// A file that was not sealed with the key does not open, whatever its check sum says; one that was does.
///
/// Input: what to do, then the bytes of a file or of contents.
@Sendable func fuzzSealedFile(_ input: Data) {
  guard let action = input.first else { return }
  let bytes = Array(input.dropFirst())
  let key = DataKeys.Key(
    id: [UInt8](repeating: 7, count: 16), key: SymmetricKey(data: [UInt8](repeating: 9, count: 32)))
  let keys = DataKeys(current: key, older: [])
  let identity = SealedFormat.Identity(group: .default, name: [UInt8](repeating: 3, count: 16))
  switch action % 4 {
  case 0:
    requireRefusal { () throws(SealError) in try SealedFormat.open(bytes, as: identity, with: keys) }
  case 1:
    // With length, check sum, id, name and group put right, only the seal is left to tell.
    guard bytes.count >= SealedFormat.overhead else { return }
    let genuine = bytes.withUnsafeBytes { SealedFormat.seal($0, as: identity, sequence: 1, with: key) }
    var file = completed(bytes)
    file.replaceSubrange(16..<64, with: genuine[16..<64])
    requireRefusal { () throws(SealError) in
      try SealedFormat.open(completed(file), as: identity, with: keys)
    }
  case 2:
    let file = bytes.withUnsafeBytes { SealedFormat.seal($0, as: identity, sequence: 5, with: key) }
    guard let opened = try? SealedFormat.open(file, as: identity, with: keys) else {
      fatalError("What was sealed does not open.")
    }
    require(Array(opened.contents) == bytes && opened.sequence == 5, "Other contents came out.")
    if var manifest = try? Manifest(opened) {
      for shard in manifest.shards { manifest[shard] = manifest[shard].map { $0 &+ 1 } }
    }
  default:
    guard let header = try? SealedKeys.Header(bytes.count > 16 ? completed(bytes, magic: "LLAVEROK") : bytes)
    else {
      return
    }
    // Deriving a key by scrypt would take the fuzzer's time; what bounds it is checked instead.
    guard header.kind != .passphrase else { return require(header.scrypt.isWithinLimits, "Too much memory.") }
    guard let derived = try? header.key(from: [1, 2, 3]) else { fatalError("No key.") }
    requireRefusal { () throws(SealError) in
      try SealedKeys.open(completed(bytes, magic: "LLAVEROK"), with: derived)
    }
  }
}

private func requireRefusal<T>(_ open: () throws(SealError) -> T) {
  if (try? open()) != nil { fatalError("A forged file opened.") }
}

/// The bytes with the beginning, the length and the check sum of a sealed file.
private func completed(_ bytes: [UInt8], magic: String = "LLAVEROS") -> [UInt8] {
  var file = bytes
  var head = Array(magic.utf8)
  head.append(bigEndian: SealedFormat.version)
  head.append(bigEndian: UInt32(file.count))
  file.replaceSubrange(0..<16, with: head)
  file.replaceSubrange(file.count - 16..<file.count, with: SealedFormat.checkSum(file.dropLast(16)))
  return file
}
