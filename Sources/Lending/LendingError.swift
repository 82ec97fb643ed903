public import FoundationEssentials
import GLibSupport

/// Why a lender cannot start.
public enum LendingError: LocalizedError, Sendable, Equatable {
  /// Another program listens there.
  case inUse(String)
  /// The file at the path is not a socket.
  case notASocket(path: String)
  /// The path has more bytes than a socket's address.
  case pathTooLong(path: String)
  /// The descriptor is not a listening Unix socket.
  case notListening(descriptor: Int32)
  /// The socket or the port cannot be made for another reason, or the loan does not fit the client.
  case unusable(String)

  init(_ error: PrivateFileError) { self = .unusable(error.description) }

  /// The error of a port that cannot be listened on, or of a library that is missing.
  init(_ error: GLibError) {
    self = error.isAddressInUse ? .inUse(error.message) : .unusable(error.message)
  }
}

extension LendingError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .inUse(let text), .unusable(let text): text
    case .notASocket(let path): "The file \(path) exists and is not a socket."
    case .pathTooLong(let path): "\(path) is too long for a socket: \(longestSocketPath) bytes at most."
    case .notListening(let descriptor): "The descriptor \(descriptor) is not a listening Unix socket."
    }
  }

  public var errorDescription: String? { sentences(description) }
}
