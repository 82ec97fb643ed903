import FoundationEssentials

extension UUID {
  /// A random one (RFC 9562 section 5.4). `UUID()` opens a device each time, which takes longer than finding a
  /// token in memory.
  static func random() -> UUID {
    var generator = SystemRandomNumberGenerator()
    return random(using: &generator)
  }
}
