package import GLibSupport
import Glibc
package import SecretService
package import TokenCache

extension CacheError {
  /// What a failure of the Secret Service, in a collection or the default one, means for the cache.
  package init(_ error: SecretServiceError, collection: String? = nil) {
    // The error may have the last element of the collection's path.
    var error = error
    if case .noSuchCollection = error { error = .noSuchCollection(collection ?? "default") }
    let disposition: Disposition =
      switch error {
      case .serviceGone: .retry
      // A default collection can be made.
      case .collectionLocked, .itemsLocked, .promptRequired, .noSuchCollection("default"): .unlock
      default: .fatal
      }
    let code: Code =
      switch error {
      case .noSessionBus, .noSecretService, .noRuntimeDirectory, .noSuchCollection, .noWallet, .noDatabase,
        .serviceGone:
        .unavailable
      case .collectionLocked, .itemsLocked, .promptRequired: .locked
      case .promptDismissed, .noDisplay: .promptDismissed
      case .timedOut: .timedOut
      case .cancelled: .cancelled
      case .itemTooLarge: .tooLarge
      case .encryptionRefused, .noSuchItem, .refused, .malformedResponse: .refused
      }
    self.init(
      code, error.description, advice: error.advice, underlyingError: error, disposition: disposition,
      // Nothing says what the service made of a request without a reply.
      leavesOutcomeOpen: [.serviceGone, .timedOut, .cancelled].contains(error))
  }

  /// What it means for the cache that a file cannot be used. `what` says in a sentence what cannot be done, and the environment
  /// variable names another place for the file.
  package init(_ error: PrivateFileError, _ what: String, variable: String? = nil) {
    self.init(
      .unavailable, "\(what) \(error)", advice: error.advice(variable: variable), underlyingError: error)
  }
}

extension PrivateFileError {
  /// The command that would help, where there is one.
  fileprivate func advice(variable: String?) -> String? {
    switch self {
    case .notPrivate(let path):
      let path = shellQuoted(path)
      return
        "See \"ls -ld \(path)\"; if it is yours and no symbolic link, \"chmod go= \(path)\" closes it to others."
        + (variable.map { " Or set \($0) to a directory of your own." } ?? "")
        + " Where chmod has no effect (SMB, FAT), mount it with dir_mode=0700,file_mode=0600, or umask=077."
    case .notRegular(let path): return "See \"ls -ld \(shellQuoted(path))\"."
    case .system(_, let file, let code):
      let path = shellQuoted(file)
      let elsewhere = variable.map { " Or set \($0) to another directory." } ?? ""
      return switch code {
      case ENOSPC, EDQUOT:
        "Make room on that file system (\"df -h \(path)\"), then try again. What was stored before is unchanged."
      case ENOLCK, EOPNOTSUPP, ENOSYS:
        "The file system gives no locks; see \"findmnt -T \(path)\" for how it was mounted.\(elsewhere)"
      case EROFS: "The file system is read-only: \"findmnt -T \(path)\".\(elsewhere)"
      case EACCES where unsafe access(file, F_OK) != 0 && variable != nil: absence(variable)
      case EACCES, EPERM: "See \"ls -ld \(path)\": it must belong to you.\(elsewhere)"
      case EMFILE, ENFILE: "Raise the limit of open files (\"ulimit -n\")."
      case EIO: "Check the disk (\"journalctl -k\")."
      case ESTALE: "Try again."
      case ENOENT, ENOTDIR, ELOOP: absence(variable)
      default: nil
      }
    }
  }

  private func absence(_ variable: String?) -> String? {
    variable.map { "Set \($0) to a directory of your own that exists, or unset it." }
  }
}
