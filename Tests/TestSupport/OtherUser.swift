import Glibc

/// Somebody else on this machine, as whom a test runs programs.
public enum OtherUser {
  /// What stands before a program that is to run as somebody else; `nil` where nobody else can be had.
  ///
  /// Root becomes nobody. Whoever is not root becomes one of the ids that subuid(5) gives him: Debian's package uidmap.
  public static let command: [String]? = {
    if geteuid() == 0 { return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] }
    let command = ["unshare", "--user", "--map-auto", "--setuid=1", "--setgid=1"]
    let trial = try? Child.run(command[0], command.dropFirst() + ["true"])
    return trial?.status == 0 ? command : nil
  }()
}
