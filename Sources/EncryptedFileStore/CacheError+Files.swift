import GLibSupport
import Glibc
import TokenCache

/// Runs work that reads files.
func readingFiles<T>(_ work: () throws(PrivateFileError) -> T) throws(CacheError) -> T {
  do {
    return try work()
  } catch {
    throw CacheError(.unavailable, "The file store cannot be read. \(error)", advice: error.advice)
  }
}

/// Runs work that writes files.
func writingFiles<T>(_ work: () throws(PrivateFileError) -> T) throws(CacheError) -> T {
  do {
    return try work()
  } catch {
    throw CacheError(.unavailable, "The file store cannot be written. \(error)", advice: error.advice)
  }
}

extension CacheError {
  init(lockFile error: SharedLockFileError) {
    let advice =
      switch error {
      case .notPrivate(let path): PrivateFileError.notPrivate(path: path).advice
      case .system(let call, let path, let code):
        PrivateFileError.system(call: call, path: path, code: code).advice
      }
    self.init(
      .unavailable, "The file store cannot be written. \(error)", advice: advice)
  }
}

extension PrivateFileError {
  /// The command that would help, where there is one.
  var advice: String? {
    let path = shellQuoted(path)
    return switch self {
    case .notPrivate:
      "See \"ls -ld \(path)\"; if it is yours and no symbolic link, \"chmod go= \(path)\" closes it to others."
    case .system(_, _, ENOSPC), .system(_, _, EDQUOT):
      "Make room on that file system (\"df -h \(path)\"), then try again. What was stored before is unchanged."
    case .system(_, _, EROFS):
      "The file system is read-only (\"findmnt -T \(path)\"). Set XDG_DATA_HOME to a directory that is not."
    case .system(_, _, EACCES), .system(_, _, EPERM):
      "See \"ls -ld \(path)\": it must belong to you. Or set XDG_DATA_HOME to a directory that does."
    case .system: nil
    }
  }

  private var path: String {
    switch self {
    case .notPrivate(let path), .system(_, let path, _): path
    }
  }
}
