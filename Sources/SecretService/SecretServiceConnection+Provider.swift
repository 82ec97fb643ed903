import FoundationEssentials
package import GLibSupport

extension SecretServiceConnection {
  /// The process that offers the service.
  package func provider(_ cancellable: Cancellable) throws(SecretServiceError) -> Provider {
    try withSession(cancellable) { (session) throws(SecretServiceError) in try session.provider(cancellable) }
  }

  /// Whether somebody on the bus has this name, or can be started to have it.
  package func hasOrCanStart(
    _ name: String, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> Bool {
    try withSession(cancellable) { (session) throws(SecretServiceError) in
      let isOwned = try session.askBus("NameHasOwner", [.string(name)], "(b)", cancellable)?.boolean
      if isOwned == true { return true }
      let names = try session.askBus("ListActivatableNames", [], "(as)", cancellable)?.strings
      return names?.contains(name) ?? false
    }
  }
}

extension ServiceSession {
  /// Asks the bus itself.
  func askBus(
    _ method: String, _ arguments: [Variant], _ reply: String, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> Variant? {
    do {
      return try bus.ask(method, arguments, reply: reply, cancellable)
    } catch {
      throw SecretServiceError(error, calling: method, on: .service, cancellable)
    }
  }

  func provider(_ cancellable: Cancellable) throws(SecretServiceError) -> Provider {
    let method = "GetConnectionUnixProcessID"
    guard let process = try askBus(method, [.string(owner)], "(u)", cancellable)?.uint32
    else { throw .malformedAnswer(method) }
    return Provider(process: process)
  }

  /// Whether the service can show no prompt, and would not say so: KWallet and oo7 wait for minutes then. Of others a
  /// prompt that cannot be shown is dismissed at once.
  func lacksDisplay(_ cancellable: Cancellable) throws(SecretServiceError) -> Bool {
    let provider = try provider(cancellable)
    return provider.waitsForDisplay && !provider.hasDisplay
  }
}

/// The program that offers the Secret Service.
package struct Provider: Sendable {
  package let process: UInt32
  /// What it was started as: a path where the system tells.
  package let program: String?

  init(process: UInt32) {
    self.process = process
    let directory = "/proc/\(process)/"
    // The link cannot be read where the program has capabilities of its own.
    program =
      (try? FileManager.default.destinationOfSymbolicLink(atPath: directory + "exe"))
      ?? Self.strings(in: directory + "cmdline").first
  }

  /// The program's name without its directory.
  package var name: String { program?.split(separator: "/").last.map(String.init) ?? "An unknown program" }

  /// Whether it is GNOME's, which asks for passwords through a prompter of its own.
  package var isGnomeKeyring: Bool { name == "gnome-keyring-daemon" }

  fileprivate var waitsForDisplay: Bool {
    ["kwalletd5", "kwalletd6", "ksecretd", "oo7-daemon"].contains(name)
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
