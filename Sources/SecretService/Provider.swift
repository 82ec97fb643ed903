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
    else { throw .malformedResponse(method) }
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

  package var isKWallet: Bool { Self.kwallets.contains(name) }

  /// Whether it was started without a display and would not report that: KWallet and oo7 then wait for minutes. Other
  /// services dismiss at once a prompt that they cannot show.
  var cannotPrompt: Bool {
    (isKWallet || name == "oo7-daemon") && !hasDisplay
  }

  /// Whether it or this process was started on a display.
  package var hasDisplay: Bool {
    [variables, processEnvironment()].contains { variables in
      ["WAYLAND_DISPLAY", "DISPLAY"].contains { variables[$0]?.isEmpty == false }
    }
  }

  /// The session bus that it was started with; `nil` where that cannot be seen, such as of a program with capabilities of its own.
  package var busAddress: String? { variables["DBUS_SESSION_BUS_ADDRESS"] }

  /// The other processes of this user that run the same program on the same files. Each of them overwrites what another saves.
  package var rivals: [Provider] {
    Self.running(besides: self).filter { $0.name == name }
  }

  /// The programs of this user that keep their collections in the data directory of another process.
  static func running(besides other: Provider) -> [Provider] {
    let programs = kwallets + ["gnome-keyring-daemon", "oo7-daemon"]
    let directory = other.identityOfDataDirectory
    return ProcessStatus.ofThisUser.map { Provider(process: UInt32($0)) }.filter { provider in
      guard provider.process != other.process, programs.contains(provider.name) else { return false }
      guard let its = provider.identityOfDataDirectory else {
        // It may have ended meanwhile.
        return Provider(process: provider.process).program == provider.program
      }
      return directory == nil || its == directory
    }
  }

  /// The file of a collection of gnome-keyring that has no password, so that everything is in plaintext there; `nil` for others,
  /// and where that cannot be seen.
  package func plaintextFile(of collection: ObjectPath) -> String? {
    guard isGnomeKeyring, let directory = dataDirectory ?? Self(process: UInt32(getpid())).dataDirectory
    else { return nil }
    let path = "\(directory)/keyrings/\(collection.unescapedName).keyring"
    let file = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    let beginning = Array("[keyring]".utf8)
    var bytes = beginning.map { _ in 0 as UInt8 }
    return pread(file, &bytes, bytes.count, 0) == bytes.count && bytes == beginning ? path : nil
  }

  private static let kwallets = ["kwalletd5", "kwalletd6", "ksecretd"]

  /// The XDG data directory of its user.
  private var dataDirectory: String? {
    let variables = variables
    return variables["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
      ?? variables["HOME"].map { $0 + "/.local/share" }
  }

  /// The same directory has the same, also where a container has it at another path.
  private var identityOfDataDirectory: String? {
    guard let path = dataDirectory else { return nil }
    var status = stat()
    return stat("/proc/\(process)/root\(path)", &status) == 0 ? "\(status.st_dev) \(status.st_ino)" : path
  }

  /// The environment that it was started with, but for empty variables; none where that cannot be seen.
  private var variables: [String: String] {
    let pairs = Self.strings(in: "/proc/\(process)/environ").map { $0.split(separator: "=", maxSplits: 1) }
    return Dictionary(pairs.filter { $0.count == 2 }.map { (String($0[0]), String($0[1])) }) { first, _ in
      first
    }
  }

  private static func strings(in file: String) -> [String] {
    let contents = (try? Data(contentsOf: URL(filePath: file))) ?? Data()
    return contents.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
  }
}
