import FoundationEssentials
package import GLibSupport
import Glibc

extension SecretServiceConnection {
  /// The process that provides the service.
  package func provider(_ cancellable: Cancellable) throws(SecretServiceError) -> Provider {
    let session = try session(cancellable)
    let method = "GetConnectionUnixProcessID"
    guard
      let process = try session.callBus(method, [.string(session.owner)], reply: "(u)", cancellable)?.uint32
    else { throw .malformedAnswer(method) }
    return Provider(process: process)
  }

  /// Whether a program on the bus has this name, or the bus can start one.
  package func hasOrCanStart(_ name: String, _ cancellable: Cancellable) throws(SecretServiceError) -> Bool {
    let session = try session(cancellable)
    let isOwned = try session.callBus("NameHasOwner", [.string(name)], reply: "(b)", cancellable)?.boolean
    if isOwned == true { return true }
    let names = try session.callBus("ListActivatableNames", [], reply: "(as)", cancellable)?.strings
    return names?.contains(name) ?? false
  }
}

/// The program that provides the Secret Service.
package struct Provider: Sendable {
  package let process: UInt32
  /// Its path or, if that cannot be read, the command that it was started as.
  package let program: String?

  init(process: UInt32) {
    self.process = process
    let directory = "/proc/\(process)/"
    // The link cannot be read if the program has capabilities of its own.
    program =
      (try? FileManager.default.destinationOfSymbolicLink(atPath: directory + "exe"))
      ?? Self.strings(in: directory + "cmdline").first
  }

  /// The program's name without its directory.
  package var name: String { program?.split(separator: "/").last.map(String.init) ?? "An unknown program" }

  /// Whether its process runs this file; false where that cannot be seen, such as of a program with capabilities of its own.
  package func runs(_ path: String) -> Bool {
    let program = open("/proc/\(process)/exe", O_RDONLY | O_CLOEXEC)
    defer { close(program) }
    return isFile(path, openAs: program)
  }

  /// Whether it is GNOME's, which asks for passwords through a prompter of its own.
  package var isGnomeKeyring: Bool { name == "gnome-keyring-daemon" }

  /// Whether it was started without a display and would not report that: KWallet and oo7 then wait for minutes. Other
  /// services dismiss at once a prompt that they cannot show.
  var cannotPrompt: Bool {
    ["kwalletd5", "kwalletd6", "ksecretd", "oo7-daemon"].contains(name) && !hasDisplay
  }

  /// Whether it or this process was started on a display.
  package var hasDisplay: Bool {
    let variables = Self.strings(in: "/proc/\(process)/environ") + processEnvironment().map { "\($0)=\($1)" }
    return variables.contains { variable in
      ["WAYLAND_DISPLAY=", "DISPLAY="].contains { variable.hasPrefix($0) && variable != $0 }
    }
  }

  private static func strings(in file: String) -> [String] {
    let contents = (try? Data(contentsOf: URL(filePath: file))) ?? Data()
    return contents.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
  }
}
