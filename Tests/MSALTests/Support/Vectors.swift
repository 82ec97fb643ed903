import Foundation
import TestSupport
import Testing

/// Microsoft's own test values, which stand beside the repository and not in it.
struct Vectors: Sendable {
  /// One row, with what the test is to be called.
  struct Row: @unchecked Sendable, CustomTestStringConvertible {
    // Values as JSONSerialization makes them, which nobody changes.
    let fields: [String: Any]
    let testDescription: String

    func text(_ name: String) -> String? { fields[name] as? String }
    func number(_ name: String) -> Int? { fields[name] as? Int }
    func object(_ name: String) -> [String: Any]? { fields[name] as? [String: Any] }
  }

  static let isThere = FileManager.default.fileExists(atPath: SharedFiles.vectors.path)

  static func rows(_ section: String) -> [Row] {
    guard let data = try? Data(contentsOf: SharedFiles.vectors),
      let sections = try? JSONSerialization.jsonObject(with: data) as? [String: Any],
      let rows = sections[section] as? [[String: Any]]
    else { return [] }
    return rows.enumerated().map { index, fields in
      let source = fields["source"] as? [String: Any]
      let name = fields["msidError"] ?? source?["test"] ?? ""
      return Row(fields: fields, testDescription: "#\(index) \(name)")
    }
  }
}
