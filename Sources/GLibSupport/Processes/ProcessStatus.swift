/// What `/proc` says of a process (proc(5)).
package struct ProcessStatus {
  /// The name of its command, which every process can choose for itself.
  package let command: String
  /// Whether it has ended, and only its parent has not heard of it.
  package let isZombie: Bool
  /// When it was started, in ticks since the machine was.
  package let start: UInt64

  /// - Returns: `nil` where there is no such process, or it is out of sight.
  package init?(_ process: Int32) {
    guard let bytes = try? readFile("/proc/\(process)/stat", limit: 4096) else { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    // The name is in parentheses, and may have some itself.
    guard let opening = text.firstIndex(of: "("), let closing = text.lastIndex(of: ")"), opening < closing
    else { return nil }
    // The name is the second field, the state the third and the start the 22nd.
    let fields = text[text.index(after: closing)...].split(separator: " ")
    guard fields.count > 19, let start = UInt64(fields[19]) else { return nil }
    command = String(text[text.index(after: opening)..<closing])
    isZombie = fields[0] == "Z" || fields[0] == "X"
    self.start = start
  }
}
