package import HTTPTypes

/// A host that is this machine's own, by a name or a number of its loopback interface.
package struct LoopbackHost: Sendable {
  private let name: String
  /// What follows the host: a colon and the port, or nothing.
  private let rest: String

  /// Reads a host, with or without a port; `nil` for another machine's, and beside a user name.
  package init?(_ authority: String) {
    // What precedes an "@" only looks like a host.
    guard !authority.contains("@") else { return nil }
    let text = authority.lowercased()
    if text == "::1" {
      (name, rest) = (text, "")
    } else if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
      (name, rest) = (String(text[..<end].dropFirst()), String(text[end...].dropFirst()))
    } else {
      name = String(text.prefix { $0 != ":" })
      rest = String(text.dropFirst(name.count))
    }
    let numbers = name.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
    let isNumber = numbers.count == 4 && !numbers.contains(nil) && numbers[0] == 127
    guard isNumber || ["localhost", "::1"].contains(name) else { return nil }
  }

  /// Whether it reaches a listener on 127.0.0.1 and [::1].
  package var isListenedOn: Bool { ["localhost", "127.0.0.1", "::1"].contains(name) }

  /// Whether an http address with this authority is for a port; for any one where that is `nil`.
  package func hasPort(_ port: UInt16?) -> Bool {
    guard let port else { return rest.isEmpty || rest.first == ":" && UInt16(rest.dropFirst()) != nil }
    return rest == ":\(port)" || rest.isEmpty && port == 80
  }
}

extension HTTPRequest {
  /// Whether the request is for plain http at one of this machine's own loopback addresses.
  package var isPlaintextLoopback: Bool {
    scheme?.lowercased() == "http" && authority.flatMap { LoopbackHost($0) } != nil
  }
}
