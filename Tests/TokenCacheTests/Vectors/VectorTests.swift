import Foundation
import TestSupport

@testable import TokenCache

/// Microsoft's own test values for the keychain cache of MSAL for iOS and macOS.
struct VectorTests {
  private func check(_ row: VectorRow) async throws {
    let check = try #require(VectorRunner.sections[row.section])
    _ = try await check(row)
  }

  @Test(arguments: VectorRunner.sections.keys.sorted().flatMap(VectorFile.rows))
  func `A row holds`(_ row: VectorRow) async throws { try await check(row) }

  @Test(.fault("vector row")) func `A step may give an item by its properties`() async throws {
    let item =
      #"{"credentialType": "RefreshToken", "homeAccountId": "u.t", "environment": "e", "clientId": "c"}"#
    let steps = """
      {"steps": [{"op": "saveCredential", "name": "one", "properties": \(item)},
        {"op": "getCredentials", "query": \(item), "expect": {"count": 1, "items": {"0": "one"}}},
        {"op": "removeCredential", "properties": \(item)},
        {"op": "getCredentials", "query": \(item), "expect": {"count": 0}}]}
      """
    let row = VectorRow(
      section: "cache_scenarios", index: 0,
      fields: .object(try JSONObject(foreign: Data(steps.utf8), within: .cache)))
    try await VectorScenario().run(row)
  }

  @Test(.fault("vector row")) func `An expectation may name properties of what is found`() async throws {
    let item =
      #"{"credentialType": "AccessToken", "homeAccountId": "u.t", "environment": "e", "clientId": "c", "realm": "r", "target": "s"}"#
    func steps(_ expected: String) throws -> VectorRow {
      let steps = """
        {"steps": [{"op": "saveCredential", "item": \(item), "properties": {"secret": "one"}},
          {"op": "getAllCredentials", "expect": {"count": 1, "properties": \(expected)}}]}
        """
      return VectorRow(
        section: "cache_scenarios", index: 0,
        fields: .object(try JSONObject(foreign: Data(steps.utf8), within: .cache)))
    }
    let one = #"{"secret": "one", "realm": {"notNil": true}, "familyId": null}"#
    for expected in [one, "[\(one)]", #"{"0": \#(one)}"#] { try await VectorScenario().run(steps(expected)) }
    for expected in [#"{"secret": "two"}"#, #"{"1": \#(one)}"#, #"{"realm": null}"#, #"{"other": "x"}"#] {
      await #expect(throws: VectorFailure.self) { try await VectorScenario().run(steps(expected)) }
    }
  }

  @Test(.fault("vector row"), arguments: [("ssh-cert", String?.none), ("Pop", "another")])
  func `A row may set the type and the key of its token`(_ type: String, _ kid: String?) async throws {
    let row = try #require(
      VectorFile.rows("schema_compliance").first { $0.fields["configuration"] == "aadTestConfigurationATPop" }
    )
    var (fields, json) = (row.fields, try row.fields.object("expectedJSON"))
    json["token_type"] = .string(type)
    fields["tokenTypeOverride"] = .string(type)
    if let kid { (fields["kid"], json["kid"]) = (.string(kid), .string(kid)) }
    let unexpected = VectorRow(section: row.section, index: 0, fields: .object(fields))
    await #expect(throws: VectorFailure.self) { try await check(unexpected) }
    fields["expectedJSON"] = .object(json)
    try await check(VectorRow(section: row.section, index: 0, fields: .object(fields)))
  }

  /// Runs every row once more and prints how many passed, so that the number can be read off.
  @Test func `Every section is known and every row passes`() async throws {
    let sections = VectorFile.sections
    #expect(!sections.isEmpty, "\(SharedFiles.vectors.path) cannot be read")
    var lines: [String] = []
    var (passedRows, elsewhereRows, allRows) = (0, 0, 0)
    for (name, rows) in sections.sorted(by: { $0.key < $1.key }) where !VectorRunner.inputs.contains(name) {
      guard let check = VectorRunner.sections[name] else {
        #expect(VectorRunner.elsewhere.contains(name), "the section \(name) is not understood")
        lines.append("vectors: \(name): \(rows.count) not for this issue")
        continue
      }
      var (passed, elsewhere) = (0, 0)
      for row in rows {
        do {
          if case .passed = try await check(row) { passed += 1 } else { elsewhere += 1 }
        } catch {
          lines.append("vectors: \(name): FAILED \(row.id): \(error)")
        }
      }
      let others = elsewhere == 0 ? "" : ", \(elsewhere) not for this issue"
      lines.append("vectors: \(name): \(passed) of \(rows.count - elsewhere) passed\(others)")
      passedRows += passed
      elsewhereRows += elsewhere
      allRows += rows.count
    }
    lines.append(
      "vectors: \(passedRows) of \(allRows - elsewhereRows) passed, \(elsewhereRows) not for this issue")
    print(lines.joined(separator: "\n"))
    #expect(passedRows == allRows - elsewhereRows)
  }
}
