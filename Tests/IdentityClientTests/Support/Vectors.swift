import Foundation
import TestSupport
import TokenCache

/// Microsoft's own test values, which stand beside the repository and not in it.
enum Vectors {
  /// `nil` where the file is not there.
  static let sections: JSONObject? = {
    (try? Data(contentsOf: SharedFiles.vectors)).flatMap {
      try? JSONDecoder().decode(JSONObject.self, from: $0)
    }
  }()

  static func rows(_ section: String) -> [Row] {
    (sections?[section]?.arrayValue ?? []).enumerated().map { index, fields in
      Row(name: "\(section) #\(index)", fields: fields.objectValue ?? [:])
    }
  }

  struct Row: Sendable, CustomStringConvertible {
    let name: String
    let fields: JSONObject

    var description: String {
      fields["source"]?.objectValue?["test"]?.stringValue.map { "\(name) \($0)" } ?? name
    }
    var expected: JSONObject { fields["expected"]?.objectValue ?? [:] }
    func string(_ name: String) -> String? { fields[name]?.stringValue }
  }
}
