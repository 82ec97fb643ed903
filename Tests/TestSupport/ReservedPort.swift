import Glibc

/// A port of this machine that no other program gets while this object lives.
///
/// Connections are refused, until a program that is told the port listens there, with SO_REUSEADDR.
public final class ReservedPort: Sendable {
  /// For tests of a server that is not there.
  public static let refusing: ReservedPort = {
    do { return try ReservedPort() } catch { fatalError("\(error)") }
  }()

  public let number: UInt16
  private let descriptor: Int32

  public init() throws {
    // Both of IPv6 and of IPv4, where there are both.
    guard let (descriptor, number) = bindToFreePort(AF_INET6) ?? bindToFreePort(AF_INET) else {
      throw SetUpFailure("no port is free: \(String(cString: strerror(errno)))")
    }
    (self.descriptor, self.number) = (descriptor, number)
  }

  deinit { close(descriptor) }
}
