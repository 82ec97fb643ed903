import Glibc
import PrivateSession

/// `Worker session [--bus-only] <program> [arguments]` runs a program with a bus and, unless told otherwise, an unlocked
/// gnome-keyring of its own, which end with it.
enum Session {
  /// - Returns: The program's exit status.
  static func run(_ arguments: [String]) throws -> Int32 {
    let hasKeyring = arguments.first != "--bus-only"
    let command = arguments.dropFirst(hasKeyring ? 0 : 1)
    guard let program = command.first else { exit(64) }
    let keyring = try PrivateKeyring(startingDaemon: hasKeyring, isActivatable: hasKeyring)
    defer { keyring.shutdown() }
    // In this group, which a terminal's Ctrl-C reaches.
    return try Child(
      program, Array(command.dropFirst()), environment: keyring.environment, group: getpgrp(),
      streams: (STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO)
    ).wait()
  }
}
