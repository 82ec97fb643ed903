import Glibc

/// Why a lock file cannot be used.
package enum SharedLockFileError: Error, Equatable, Sendable {
  /// The directory or file belongs to somebody else, is open to others, or is not what it should be.
  case notPrivate(path: String)
  /// A system call failed; a full disk is `ENOSPC` from `posix_fallocate`.
  case system(call: String, path: String, code: Int32)
}

extension SharedLockFileError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .notPrivate(let path):
      "\(path) cannot be used for locking: it must belong to this user and be closed to all others."
    case .system(let call, let path, let code):
      "\(path) cannot be used for locking: \(call): \(String(cString: strerror(code)))."
    }
  }
}
