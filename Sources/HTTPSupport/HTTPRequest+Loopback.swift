package import HTTPTypes

extension HTTPRequest {
  /// Whether the request is for plain http at one of this machine's own loopback addresses.
  package var isPlaintextLoopback: Bool {
    guard scheme?.lowercased() == "http", let authority, !authority.contains("@") else { return false }
    let host =
      authority.hasPrefix("[")
      ? authority.prefix { $0 != "]" }.dropFirst() : authority.prefix { $0 != ":" }
    if ["localhost", "::1"].contains(host.lowercased()) { return true }
    let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
    return numbers.count == 4 && !numbers.contains(nil) && numbers[0] == 127
  }
}
