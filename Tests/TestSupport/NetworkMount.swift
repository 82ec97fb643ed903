import FoundationEssentials
import Glibc

/// A directory as another machine sees it: through a file system with a cache of its own (FUSE).
public final class NetworkMount: Sendable {
  public enum Kind: Sendable {
    /// Locks reach other mounts of the directory, as with NFS (bindfs, with the subtype of such a file system).
    case withLocks
    /// Locks do not reach other mounts (sshfs).
    case withoutLocks
  }

  /// Whether both can be made here.
  public static let isPossible: Bool = {
    guard geteuid() == 0, let directory = try? TemporaryDirectory() else { return false }
    return [Kind.withLocks, .withoutLocks].allSatisfy { (try? NetworkMount($0, of: directory.path)) != nil }
  }()

  public let path: String
  private let files: TemporaryDirectory
  private let child: Child

  public init(_ kind: Kind, of directory: String) throws {
    files = try TemporaryDirectory()
    path = try files.directory("mount")
    // What another machine has done is seen when a file is opened.
    let options = "attr_timeout=0,entry_timeout=0"
    let command: [String]
    switch kind {
    case .withLocks:
      command = [
        "bindfs", "-f", "--enable-lock-forwarding", "--multithreaded", "-o", options + ",subtype=glusterfs",
        directory, path,
      ]
    case .withoutLocks:
      let server = try files.program("ssh", "#!/bin/sh\nexec /usr/lib/openssh/sftp-server\n")
      command = [
        "sshfs", "-f", "-o", "ssh_command=\(server),dir_cache=no,\(options)", "host:\(directory)", path,
      ]
    }
    let log = files.path + "/log"
    child = try Child(command[0], Array(command.dropFirst()), log: log)
    for _ in 0..<60_000 {
      if isMounted { return }
      if child.hasEnded { break }
      usleep(1000)
    }
    throw SetUpFailure("\(command[0]) made no mount", log: log)
  }

  private var isMounted: Bool {
    var (inside, outside) = (stat(), stat())
    return stat(path, &inside) == 0 && stat(files.path, &outside) == 0 && inside.st_dev != outside.st_dev
  }

  /// Makes it hang until ``goOn()``, as one does whose server does not respond; ends the process after a minute.
  ///
  /// For exit tests only: where a process has a descriptor of a mount that hangs, each one that it starts waits in `exec`, where the
  /// descriptor is closed, and not even SIGKILL ends it.
  public func hang() {
    alarm(60)
    child.signal(SIGSTOP)
  }

  public func goOn() {
    child.signal(SIGCONT)
    alarm(0)
  }

  deinit {
    // Before the directory is removed, and with it what is mounted there.
    umount2(path, Int32(MNT_DETACH))
    child.end()
  }
}
