import Glibc

/// The directory for files that live as long as the login session and belong to one user.
package struct RuntimeDirectory: Equatable, Sendable {
  package let path: String
  /// False in a Flatpak or Snap sandbox, where other applications do not see the same directory.
  package let isShared: Bool

  /// `$XDG_RUNTIME_DIR/llavero` where that variable is set (XDG Base Directory Specification), else
  /// `/run/user/<uid>/llavero` where the system made that directory, else `/tmp/llavero-<uid>`.
  package init(environment: [String: String]) {
    let user = geteuid()
    if let directory = environment["XDG_RUNTIME_DIR"], directory.hasPrefix("/") {
      path = directory + "/llavero"
    } else if isOwnDirectory("/run/user/\(user)", user: user) {
      path = "/run/user/\(user)/llavero"
    } else {
      path = "/tmp/llavero-\(user)"
    }
    isShared = environment["SNAP"] == nil && access("/.flatpak-info", F_OK) != 0
  }

  /// Opens a directory in this one, after making both where they do not exist. Who owned this one could put another in the
  /// place of what is in it.
  ///
  /// - Throws: ``PrivateFileError``, `notPrivate` when others may use either.
  package func directory(_ name: String) throws(PrivateFileError) -> PrivateDirectory {
    _ = try PrivateDirectory.made(at: path)
    return try PrivateDirectory.made(at: path + "/" + name)
  }
}

private func isOwnDirectory(_ path: String, user: uid_t) -> Bool {
  var status = stat()
  return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == user
}
