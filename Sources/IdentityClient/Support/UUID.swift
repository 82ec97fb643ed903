package import FoundationEssentials
import Glibc
import Synchronization

extension UUID {
  /// The form of a correlation ID in requests and in the log: in lower case.
  package var text: String { uuidString.lowercased() }

  /// Returns a random UUID (RFC 9562 section 5.4). `UUID()` opens a device each time, which takes longer than finding a
  /// token in memory.
  static func random() -> UUID {
    let (high, low) = randomness.withLock { ($0.next(), $0.next()) }
    let bytes = (
      (high & ~0xF000 | 0x4000).bigEndian, (low & ~(0b11 << 62) | 0b10 << 62).bigEndian
    )
    return UUID(uuid: unsafe unsafeBitCast(bytes, to: uuid_t.self))
  }
}

private let randomness = Mutex(BufferedRandomness())

/// Random bytes of the system, buffered for many IDs. Not for secrets.
private struct BufferedRandomness {
  private var numbers: [UInt64] = []

  mutating func next() -> UInt64 {
    if numbers.isEmpty {
      // One call returns up to 256 bytes.
      numbers = Array(repeating: 0, count: 32)
      let result = unsafe numbers.withUnsafeMutableBytes { unsafe getentropy($0.baseAddress, $0.count) }
      if result != 0 { numbers = [] }
    }
    return numbers.popLast() ?? UInt64.random(in: .min ... .max)
  }
}
