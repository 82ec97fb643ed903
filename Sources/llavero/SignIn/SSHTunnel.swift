import GLibSupport
import Glibc

/// The ssh command that forwards a port of the person's machine to the same port of this one, where the browser's response
/// is expected.
func sshTunnelCommand(port: UInt16) -> String {
  let environment = processEnvironment()
  // The address and port by which this machine was reached (ssh(1)).
  let connection = environment["SSH_CONNECTION"]?.split(separator: " ").map(String.init) ?? []
  let isKnown = connection.count == 4
  let user = environment["USER"].flatMap { $0.isEmpty ? nil : $0 + "@" } ?? ""
  var words = ["ssh", "-L", "\(port):localhost:\(port)", user + (isKnown ? connection[2] : hostName())]
  // ssh takes options after the host, too, which reads better.
  if isKnown, connection[3] != "22" { words += ["-p", connection[3]] }
  return words.map(shellQuoted).joined(separator: " ")
}

private func hostName() -> String {
  var name = [CChar](repeating: 0, count: 256)
  guard unsafe gethostname(&name, name.count - 1) == 0 else { return "HOST" }
  return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
