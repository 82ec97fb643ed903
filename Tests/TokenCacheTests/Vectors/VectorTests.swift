import Foundation
import TestSupport

@testable import TokenCache

/// Microsoft's own test values for the keychain cache of MSAL for iOS and macOS.
struct VectorTests {
  private func run(_ steps: String) async throws {
    let steps = Data(#"{"steps": [\#(steps)]}"#.utf8)
    let fields = JSONValue.object(try JSONObject(foreign: steps, within: .cache))
    try await VectorScenario().run(VectorRow(section: "cache_scenarios", index: 0, fields: fields))
  }

  @Test(.fault("vector row")) func `A step may give an item by its properties`() async throws {
    let item =
      #"{"credentialType": "RefreshToken", "homeAccountId": "u.t", "environment": "e", "clientId": "c"}"#
    try await run(
      """
      {"op": "saveCredential", "name": "one", "properties": \(item)},
      {"op": "getCredentials", "query": \(item), "expect": {"count": 1, "items": {"0": "one"}}},
      {"op": "removeCredential", "properties": \(item)},
      {"op": "getCredentials", "query": \(item), "expect": {"count": 0}}
      """)
  }

  @Test(.fault("vector row")) func `An expectation may name properties of what is found`() async throws {
    func check(_ expected: String) async throws {
      try await run(
        """
        {"op": "saveCredential", "properties": {"secret": "one"}, "item": {"credentialType": "AccessToken",
          "homeAccountId": "u.t", "environment": "e", "clientId": "c", "realm": "r", "target": "s"}},
        {"op": "getAllCredentials", "expect": {"count": 1, "properties": \(expected)}}
        """)
    }
    let one = #"{"secret": "one", "realm": {"notNil": true}, "familyId": null}"#
    let single = #"{"0.secret": "one", "0.realm": {"notNil": true}, "familyId": null}"#
    for expected in [one, "[\(one)]", #"{"0": \#(one)}"#, single] { try await check(expected) }
    for expected in [
      #"{"secret": "two"}"#, #"{"1": \#(one)}"#, #"{"realm": null}"#, #"{"other": "x"}"#,
      #"{"0.secret": "two"}"#, #"{"1.secret": "one"}"#, #"{"0.other": "x"}"#, #"{"0.": "x"}"#,
    ] {
      await #expect(throws: VectorFailure.self) { try await check(expected) }
    }
  }

  @Test(.fault("vector row"), arguments: [("ssh-cert", String?.none), ("Pop", "another")])
  func `A row may set the type and the key of its token`(_ type: String, _ kid: String?) throws {
    let row = try #require(
      VectorFile.rows("schema_compliance").first { $0.fields["configuration"] == "aadTestConfigurationATPop" }
    )
    var (fields, json) = (row.fields, try row.fields.object("expectedJSON"))
    json["token_type"] = .string(type)
    fields["tokenTypeOverride"] = .string(type)
    if let kid { (fields["kid"], json["kid"]) = (.string(kid), .string(kid)) }
    let unexpected = VectorRow(section: row.section, index: 0, fields: .object(fields))
    #expect(throws: VectorFailure.self) { try VectorRunner.checkSchemaCompliance(unexpected) }
    fields["expectedJSON"] = .object(json)
    try VectorRunner.checkSchemaCompliance(
      VectorRow(section: row.section, index: 0, fields: .object(fields)))
  }

  /// Prints how many rows passed, so that the number can be read off.
  @Test func `Every section is known and every row passes`() async throws {
    let sections = VectorFile.sections
    #expect(!sections.isEmpty, "\(SharedFiles.vectors.path) cannot be read")
    var lines: [String] = []
    var (passedRows, elsewhereRows, allRows) = (0, 0, 0)
    for (name, all) in sections.sorted(by: { $0.key < $1.key }) where !VectorRunner.inputs.contains(name) {
      guard let check = VectorRunner.sections[name] else {
        #expect(VectorRunner.elsewhere.contains(name), "the section \(name) is not understood")
        lines.append("vectors: \(name): \(all.count) not for this issue")
        continue
      }
      let rows = all.filter { !VectorRunner.isElsewhere($0) }
      var passed = 0
      for row in rows {
        do {
          try await check(row)
          passed += 1
        } catch {
          lines.append("vectors: \(name): FAILED \(row.id): \(error)")
          Issue.record("\(name): \(row.id): \(error)")
        }
      }
      let elsewhere = all.count - rows.count
      let others = elsewhere == 0 ? "" : ", \(elsewhere) not for this issue"
      lines.append("vectors: \(name): \(passed) of \(rows.count) passed\(others)")
      passedRows += passed
      elsewhereRows += elsewhere
      allRows += all.count
    }
    lines.append(
      "vectors: \(passedRows) of \(allRows - elsewhereRows) passed, \(elsewhereRows) not for this issue")
    print(lines.joined(separator: "\n"))
  }
}
