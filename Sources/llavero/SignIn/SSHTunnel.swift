import GLibSupport
import Glibc

/// The way for a browser's answer from where the person sits to a port of this machine.
struct SSHTunnel: Sendable {
  /// The command that the person runs where they sit.
  let command: String

  /// - Parameters:
  ///   - port: The port, here and there: the browser is sent to the same number.
  ///   - environment: The process's. `SSH_CONNECTION` has the address and port by which this machine was reached (ssh(1)).
  ///   - hostName: What this machine is called where the environment does not say how it was reached.
  init(port: UInt16, environment: [String: String], hostName: String = Self.hostName) {
    let connection = environment["SSH_CONNECTION"]?.split(separator: " ").map(String.init) ?? []
    let isKnown = connection.count == 4
    let user = environment["USER"].flatMap { $0.isEmpty ? nil : $0 + "@" } ?? ""
    var words = ["ssh", "-L", "\(port):localhost:\(port)", user + (isKnown ? connection[2] : hostName)]
    // ssh takes options after the host, too, where they are least in the way of reading.
    if isKnown, connection[3] != "22" { words += ["-p", connection[3]] }
    command = words.map(shellQuoted).joined(separator: " ")
  }

  static var hostName: String {
    var name = [CChar](repeating: 0, count: 256)
    guard unsafe gethostname(&name, name.count - 1) == 0 else { return "HOST" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
