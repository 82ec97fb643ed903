public import FoundationEssentials

/// A fault of a test's own set-up, such as a daemon that does not start. `Tests/run` counts these apart from failures of
/// what is tested.
public struct SetUpFailure: LocalizedError, CustomStringConvertible {
  public let description: String
  public var errorDescription: String? { description }

  /// - Parameters:
  ///   - what: What was tried, and what came of it.
  ///   - log: A file with what the program wrote, whose end is quoted.
  ///   - advice: What helps.
  public init(
    _ what: String, log: String? = nil, advice: String = "Tests/run installs what the tests need."
  ) {
    func line(_ text: String) -> String { text.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
    let words = line(log.flatMap { try? String(contentsOfFile: $0, encoding: .utf8) } ?? "").suffix(400)
    description =
      "Set-up failed: \(line(what)). " + (words.isEmpty ? "" : "Its last words: \(words) ") + advice
  }
}
