import Foundation
public import Testing
package import TokenCache

/// A file of the test vectors of `CacheFormat.md`. With `WRITE_CACHE_FORMAT_VECTORS` set its results are written.
public struct FormatVectors: Sendable, CustomTestStringConvertible {
  private let name: String
  /// Fills in what comes of a row.
  private let rule: @Sendable (_ row: inout JSONObject) async throws -> Void

  package init(_ name: String, _ rule: @escaping @Sendable (_ row: inout JSONObject) async throws -> Void) {
    (self.name, self.rule) = (name, rule)
  }

  public var testDescription: String { name }

  /// Checks that the code produces the results of each row.
  public func check() async throws {
    let url = SharedFiles.repository.appendingPathComponent("Tests/Data/cache-format/\(name).json")
    let rows = try JSONDecoder().decode([JSONObject].self, from: Data(contentsOf: url))
    var made = rows
    for index in made.indices { try await rule(&made[index]) }
    if ProcessInfo.processInfo.environment["WRITE_CACHE_FORMAT_VECTORS"] != nil {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      try (encoder.encode(made) + Data("\n".utf8)).write(to: url)
    } else {
      for (row, made) in zip(rows, made) { #expect(row == made) }
    }
    #expect(rows.count >= 6)
  }
}

extension SharedFiles {
  /// The worked examples of `CacheFormat.md` that have a member.
  package static func workedExamples(with name: String) throws -> [JSONObject] {
    let url = repository.appendingPathComponent("Tests/Data/cache-format/examples.json")
    return try JSONDecoder().decode([JSONObject].self, from: Data(contentsOf: url)).filter { $0[name] != nil }
  }
}

/// The bytes of hexadecimal digits.
package func bytes(hex digits: String) -> [UInt8] {
  stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(digits.dropFirst($0).prefix(2), radix: 16) }
}
