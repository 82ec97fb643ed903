import CLibsecret

/// A secret in memory that is locked against swapping if the system allows it, and wiped when released.
///
/// The memory is libsecret's. The caller wipes copies.
///
/// `@unchecked Sendable`: a SecretValue never changes, and its reference count is atomic.
public final class SecretBytes: @unchecked Sendable {
  package let value: OpaquePointer

  /// Takes over the caller's reference of a `SecretValue`.
  package init(taking value: OpaquePointer) { self.value = value }

  /// Copies `bytes`, which may be empty.
  ///
  /// - Parameters:
  ///   - bytes: The secret.
  ///   - contentType: A MIME type. gnome-keyring does not keep it and always gives back `text/plain`.
  public init(copying bytes: UnsafeRawBufferPointer, contentType: String = "text/plain") {
    value = Self.makeValue(bytes, contentType)
  }

  /// Copies an array, as the initializer for a buffer does.
  public convenience init(copying bytes: [UInt8], contentType: String = "text/plain") {
    self.init(taking: bytes.withUnsafeBytes { Self.makeValue($0, contentType) })
  }

  deinit { secret_value_unref(UnsafeMutableRawPointer(value)) }

  /// The number of bytes.
  public var count: Int { withUnsafeBytes(\.count) }

  /// The MIME type that came with the secret.
  public var contentType: String { secret_value_get_content_type(value).map { String(cString: $0) } ?? "" }

  /// Calls `body` with the bytes, which are valid only until it returns.
  public func withUnsafeBytes<T, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> T) throws(E) -> T {
    var length: gsize = 0
    let start = secret_value_get(value, &length)
    defer { withExtendedLifetime(self) {} }
    return try body(UnsafeRawBufferPointer(start: start, count: Int(length)))
  }

  private static func makeValue(_ bytes: UnsafeRawBufferPointer, _ contentType: String) -> OpaquePointer {
    guard let start = bytes.bindMemory(to: CChar.self).baseAddress else {
      return secret_value_new("", 0, contentType)
    }
    return secret_value_new(start, gssize(bytes.count), contentType)
  }
}

extension SecretBytes: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The number of bytes, never the bytes.
  public var description: String { "SecretBytes(\(count) bytes)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["count": count]) }
}
