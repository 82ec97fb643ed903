import CGLib
import Glibc

/// The directory for files of one user and one login session.
package struct RuntimeDirectory: Equatable, Sendable {
  package let path: String
  /// False in a Flatpak or Snap sandbox, whose directory other applications do not see.
  package let isShared: Bool

  /// `$XDG_RUNTIME_DIR/llavero` if that variable is set (XDG Base Directory Specification), else
  /// `/run/user/<uid>/llavero` if the system made that directory, else `/tmp/llavero-<uid>`.
  package init(environment: [String: String]) {
    if let directory = environment["XDG_RUNTIME_DIR"], directory.hasPrefix("/") {
      path = directory + "/llavero"
    } else if let directory = Self.ofLogin() {
      path = directory + "/llavero"
    } else {
      path = "/tmp/llavero-\(geteuid())"
    }
    isShared = environment["SNAP"] == nil && access("/.flatpak-info", F_OK) != 0
  }

  /// `/run/user/<uid>`, if the system made that directory: what `XDG_RUNTIME_DIR` names in the user's logins.
  package static func ofLogin() -> String? {
    let user = geteuid()
    let path = "/run/user/\(user)"
    return isOwnDirectory(path, user: user) ? path : nil
  }

  /// The directory of the user's logins, if this one is not in it: their programs have other locks.
  package func ofOtherLogins() -> String? {
    guard let login = Self.ofLogin() else { return nil }
    var (one, other) = (stat(), stat())
    let isSame =
      stat(login, &one) == 0 && stat(parentDirectory(of: path), &other) == 0
      && (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
    return isSame ? nil : login
  }

  /// The directory that `XDG_RUNTIME_DIR` names, if it does not exist: no lock file can be made there, and gnome-keyring hangs
  /// at its start.
  package static func missing(_ environment: [String: String] = processEnvironment()) -> String? {
    guard let directory = environment["XDG_RUNTIME_DIR"], directory.hasPrefix("/"),
      access(directory, F_OK) != 0
    else { return nil }
    return directory
  }

  /// Opens a directory in this one; makes both if they do not exist. Both are checked: the owner of this one could
  /// replace what is in it.
  ///
  /// - Throws: ``PrivateFileError``, `notPrivate` if other users may use either.
  package func directory(_ name: String) throws(PrivateFileError) -> PrivateDirectory {
    try checkOwner(ofParentOf: path)
    _ = try PrivateDirectory.made(at: path)
    return try PrivateDirectory.made(at: path + "/" + name)
  }
}

/// Throws where root would make a directory in another user's, such as with that user's environment: it would lock the user out.
///
/// - Throws: `PrivateFileError.notPrivate`
package func checkOwner(ofParentOf directory: String) throws(PrivateFileError) {
  let parent = parentDirectory(of: directory)
  var status = stat()
  if geteuid() == 0, access(directory, F_OK) != 0, stat(parent, &status) == 0, status.st_uid != 0,
    status.st_mode & S_ISVTX == 0, !directory.hasSuffix("/llavero-0")
  {
    throw .notPrivate(path: parent)
  }
}

private func isOwnDirectory(_ path: String, user: uid_t) -> Bool {
  var status = stat()
  return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == user
}
