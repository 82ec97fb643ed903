public import FoundationEssentials
import GLibSupport
import Glibc
public import IdentityClient

/// Brings an address of a scheme of the application's own to the process that waits for it.
///
/// When a browser ends a sign-in at such an address, the desktop starts the program anew, with the address as its
/// argument. For example, at the beginning of `main`:
///
/// ```swift
/// if try RedirectHandover.run(redirectURI: redirectURI) { return }
/// ```
public enum RedirectHandover {
  /// How long the process that waits may take to answer; callers may be on a program's main thread.
  private static let timeout = Duration.seconds(1)

  /// Hands over the address that the desktop started this program with; for the beginning of `main`.
  ///
  /// - Parameters:
  ///   - arguments: The words of the command line, the program's name first; the process's own by default.
  ///   - redirectURI: That of the application.
  /// - Returns: Whether the program was started with such an address. Then it has done its work.
  /// - Throws: `IdentityError.Code.invalidState` when no sign-in waits for it.
  public static func run(
    arguments: [String]? = nil, redirectURI: URL
  ) throws(IdentityError) -> Bool {
    let arguments = arguments ?? processArguments
    guard let scheme = redirectURI.scheme?.lowercased(), redirectURI.isOwnScheme, arguments.count == 2,
      arguments[1].lowercased().hasPrefix(scheme + ":")
    else { return false }
    guard let address = URL(string: arguments[1]), handOver(address) else {
      throw IdentityError(
        .invalidState, "No sign-in waits for this response.", advice: "Start again from the application.")
    }
    return true
  }

  /// Hands an address over to the process of this user whose sign-in it answers. Blocks until that has taken it, one
  /// second at most; without one it returns at once. A process that is slower finds the address later.
  ///
  /// - Returns: Whether a sign-in waited for it; that of a process which has not answered after the second counts.
  public static func handOver(_ address: URL) -> Bool {
    handOver(address, in: RedirectMailbox.ownDirectory, timeout: timeout)
  }

  static func handOver(_ address: URL, in path: String, timeout: Duration) -> Bool {
    let bytes = Array(address.absoluteString.utf8)
    guard let scheme = address.scheme, let state = address.state, bytes.count <= RedirectMailbox.limit,
      let directory = try? PrivateDirectory.existing(at: path),
      let socket = RedirectMailbox(directory, scheme: scheme, state: state).connect()
    else { return false }
    defer { close(socket) }
    guard send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else { return false }
    let cancellable = Cancellable(timeout: timeout)
    var event = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    var ready: Int32
    repeat {
      ready = poll(&event, 1, cancellable.remainingMilliseconds)
    } while ready < 0 && errno == EINTR
    // The packet stays in that process's queue, and only its sign-in has a socket of this name.
    if ready == 0 { return true }
    var verdict: UInt8 = 0
    return recv(socket, &verdict, 1, Int32(MSG_DONTWAIT)) == 1 && verdict == 1
  }
}
