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
    guard let (descriptor, number) = Self.bind(AF_INET6) ?? Self.bind(AF_INET) else {
      throw SetUpFailure("no port is free: \(String(cString: strerror(errno)))")
    }
    (self.descriptor, self.number) = (descriptor, number)
  }

  deinit { close(descriptor) }

  private static func bind(_ family: Int32) -> (descriptor: Int32, port: UInt16)? {
    let descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var (off, on) = (Int32(0), Int32(1))
    setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &off, socklen_t(MemoryLayout<Int32>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    // Of either family: the port stands at the same place.
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(family)
    var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        Glibc.bind(descriptor, pointer, size) == 0 && getsockname(descriptor, pointer, &size) == 0
      }
    }
    if isBound { return (descriptor, UInt16(bigEndian: address.sin6_port)) }
    close(descriptor)
    return nil
  }
}
