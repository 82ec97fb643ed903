import Glibc

/// Another user of this machine, as whom a test runs programs.
public enum OtherUser {
  /// The command that runs a program as another user; `nil` if that is not possible.
  ///
  /// Root becomes the user 65534. Other users become one of their ids in subuid(5): Debian's package uidmap.
  public static let command: [String]? = {
    if geteuid() == 0 { return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] }
    let command = ["unshare", "--user", "--map-auto", "--setuid=1", "--setgid=1"]
    let trial = try? Child.run(command[0], command.dropFirst() + ["true"])
    return trial?.status == 0 ? command : nil
  }()
}
