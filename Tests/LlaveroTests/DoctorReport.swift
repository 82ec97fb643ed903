import TestSupport

/// The report of `llavero doctor`.
struct DoctorReport {
  let status: Int32
  let json: JSONValue

  var state: String? { json["state"]?.stringValue }
  var checks: [String] { json["findings"]?.strings("check") ?? [] }

  func findings(_ check: String) -> [JSONValue] {
    (json["findings"]?.arrayValue ?? []).filter { $0["check"] == .string(check) }
  }

  func states(_ check: String) -> [String] { findings(check).compactMap { $0["state"]?.stringValue } }

  /// The messages and advice of a check.
  func text(_ check: String) -> String {
    findings(check).flatMap { [$0["message"], $0["advice"]] }.compactMap { $0?.stringValue }
      .joined(separator: "\n")
  }

  @discardableResult
  func exits(_ status: Int32, sourceLocation: SourceLocation = #_sourceLocation) -> Self {
    #expect(self.status == status, "\(json)", sourceLocation: sourceLocation)
    return self
  }

  /// Expects the states of a check, and words in its messages and advice.
  @discardableResult
  func finds(
    _ check: String, _ states: String..., saying words: String...,
    sourceLocation: SourceLocation = #_sourceLocation
  ) -> Self {
    let text = text(check)
    #expect(self.states(check) == states, "\(text)", sourceLocation: sourceLocation)
    for word in words { #expect(text.contains(word), "\(text)", sourceLocation: sourceLocation) }
    return self
  }
}

extension Tool {
  /// Runs the doctor, which prints only its report.
  func examine(_ options: [String] = [], with changes: [String: String?] = [:]) throws -> DoctorReport {
    let result = try run(["doctor", "--json"] + options, with: changes)
    #expect(result.standardError.isEmpty, "\(result.standardError)")
    return DoctorReport(status: result.status, json: try result.json)
  }
}
