import Glibc

/// Why a file or directory cannot be used.
package enum PrivateFileError: Error, Equatable, Sendable {
  /// It belongs to somebody else, is open to others, or is not the kind of file it should be.
  case notPrivate(path: String)
  /// It is a link, a pipe, a device or a directory, and should be a regular file.
  case notRegular(path: String)
  /// A system call failed with this `errno`; a full disk is `ENOSPC`.
  case system(call: String, path: String, code: Int32)
}

extension PrivateFileError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .notPrivate(let path):
      "\(path) must belong to this user, be closed to all others and be the kind of file it should be."
    case .notRegular(let path): "\(path) is no regular file."
    case .system(let call, let path, let code): "\(path): \(call): \(systemReason(code))."
    }
  }
}
