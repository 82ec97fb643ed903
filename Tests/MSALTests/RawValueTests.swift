import MSAL
import TestSupport

/// Raw values are part of the API: programs store them, log them and compare them with the codes of errors.
struct RawValueTests {
  /// Apple's raw values are in the fourth column of `symbols.tsv`.
  @Test func `Enumerations have Apple's raw values`() throws {
    let types = Dictionary(uniqueKeysWithValues: [
      cases(of: MSALAudienceType.self), cases(of: MSALAuthScheme.self),
      cases(of: MSALAzureCloudInstance.self), cases(of: MSALBrokeredAvailability.self),
      cases(of: MSALClaimsRequestTarget.self), cases(of: MSALDeviceMode.self), cases(of: MSALError.self),
      cases(of: MSALHttpMethod.self), cases(of: MSALInternalError.self),
      cases(of: MSALLegacySharedAccountMode.self), cases(of: MSALLogLevel.self),
      cases(of: MSALLogMaskingLevel.self), cases(of: MSALPlatformSSOStatus.self),
      cases(of: MSALPreferredAuthMethod.self), cases(of: MSALPromptType.self),
      cases(of: MSALWebviewType.self), cases(of: MSALXpcMode.self),
    ])
    let file = SharedFiles.repository.appending(path: "Tests/msal/symbols.tsv")
    let rows = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
      .map { $0.components(separatedBy: "\t") }.filter { $0.count == 4 }
    for row in rows {
      let name = row[1].components(separatedBy: ".")
      let rawValue = try #require(Int(row[3]))
      let found = try #require(types[name[0]])
      let value = found(rawValue)
      #expect(value?.name == name[1], "\(row)")
      #expect(value?.rawValue == rawValue, "\(row)")
    }
    // Every case but the two of the next test.
    #expect(rows.count == 136)
  }

  @Test func `Names of values are Apple's`() {
    #expect(MSALPromptType.default == .promptIfNecessary)
    #expect(MSALLogLevel.last == .verbose)
  }

  /// The name of a type, and its case with a raw value: the name, and the raw value that the case has.
  private func cases<Value: RawRepresentable>(
    of _: Value.Type
  ) -> (String, (Int) -> (name: String, rawValue: Int)?) where Value.RawValue: BinaryInteger {
    let found = { (rawValue: Int) -> (name: String, rawValue: Int)? in
      guard let value = Value.RawValue(exactly: rawValue).flatMap(Value.init(rawValue:)) else { return nil }
      return ("\(value)", Int(value.rawValue))
    }
    return ("\(Value.self)", found)
  }
}
