/// Why a port cannot be listened on.
package enum ListeningError: Error, Sendable, Equatable {
  /// Another program listens on this port of the loopback interface.
  case portInUse(UInt16)
  case cannotListen(port: UInt16, String)
  /// The HTTP library cannot be loaded, for the reason that the sentence says.
  case noLibrary(String)
}

extension ListeningError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .portInUse(let port):
      "Port \(port) of the loopback interface is in use by another program."
    case .cannotListen(let port, let reason):
      "Port \(port) of the loopback interface cannot be listened on: \(reason)."
    case .noLibrary(let problem): problem
    }
  }
}
