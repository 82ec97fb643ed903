import Foundation
import TestSupport

@testable import IdentityClient

/// Microsoft's own test values for the request layer of MSAL for iOS and macOS.
struct VectorTests {
  /// The facade's tests check the other rows.
  @Test(arguments: VectorFile.rows("claims_requests").filter { $0.string("op") == "mergeClientCapabilities" })
  func `Capabilities are merged into claims`(_ row: VectorRow) throws {
    let fields = try row.understood(["capabilities", "developerClaims", "expected", "op"])
    var request = try ClaimsRequest(fields["developerClaims"]?.objectValue ?? [:])
    request.requestCapabilities((fields["capabilities"]?.arrayValue ?? []).compactMap(\.stringValue))
    switch fields["expected"] {
    case nil, .null: #expect(request.isEmpty)
    case .object(let expected):
      #expect(try !request.isEmpty == expected.understood(["hasClaims"]).flag("hasClaims"))
    default:
      // Compared as JSON: the order of members is not part of a claims request.
      let json = try [request.json(), fields.string("expected")].map {
        try JSONDecoder().decode(JSONObject.self, from: Data($0.utf8))
      }
      #expect(json[0] == json[1])
    }
  }

  @Test(arguments: VectorFile.rows("authority_init")) func `Authorities`(_ row: VectorRow) throws {
    let kinds: [String: Authority.Kind] = ["AAD": .aad, "B2C": .b2c, "ADFS": .adfs, "CIAM": .ciam]
    let kind = try #require(kinds[row.string("class") ?? ""])
    if row.string("op") == "isKnown" {
      let url = try #require(row.string("url").flatMap(URL.init(string:)))
      let isKnown = CloudInstances.known.contains(url.authorityHost ?? "")
      let isDeclared = row.fields["developerKnown"] == .bool(true)
      #expect(.bool(isKnown || isDeclared) == row.expected["isKnown"])
      return
    }
    let input = try #require(row.fields["input"]?.objectValue)
    let url = try #require(input["url"]?.stringValue.flatMap(URL.init(string:)))
    let isLoose = input["validateFormat"] == .bool(false)
    // This library accepts no authority of any scheme and form.
    if isLoose, kind == .b2c { return }
    let made = Result { () throws(IdentityError) -> Authority in
      let authority =
        kind == .ciam && !isLoose ? try Authority(url: url) : try Authority(url: url, kind: kind)
      return try input["rawTenant"]?.stringValue.map { tenant throws(IdentityError) in
        try authority.replacingTenant(with: tenant)
      } ?? authority
    }
    guard row.expected["error"] != .bool(true) else {
      switch made {
      case .success(let authority): #expect(authority.kind != kind)
      case .failure(let error):
        #expect(error.code == .invalidParameter)
        // The error of a B2C address says that it is invalid as such, not as one of another kind.
        if row.expected["errorDescription"] != "It is not CIAM authority." {
          #expect(row.expected["errorDescription"] == .string(error.message))
        }
      }
      return
    }
    let authority = try made.get()
    #expect(authority.kind == kind)
    for (name, value) in row.expected {
      switch name {
      case "url": #expect(.string(authority.url.absoluteString) == value)
      case "environment": #expect(.string(authority.environment) == value)
      case "rawTenant": #expect(authority.tenant.map(JSONValue.string) == value)
      case "tenantType": #expect(authority.namesManyTenants == (value != "Identifier"))
      case "valid": #expect(value == .bool(true))
      default: Issue.record("\(name) is not understood")
      }
    }
  }

  /// `TokenCacheTests` checks which hosts are of one environment.
  @Test(arguments: VectorFile.rows("authority_aliases")) func `Aliases`(_ row: VectorRow) throws {
    for rule in row.fields["needsUpdateToHomeAuthority"]?.arrayValue ?? [] {
      let parts = rule.arrayValue ?? []
      let authority = try Authority(url: #require(parts[0].stringValue.flatMap(URL.init(string:))))
      let person = parts[1] == .bool(true) ? TestPerson.carol : .alice
      let now = Date(timeIntervalSince1970: 0)
      let records = try TokenRecords(
        TokenResponse(fields: person.tokens(at: now)),
        for: TokenRequest(environment: "login.windows.net", clientID: "client"), at: now)
      let account = try #require(records.account(in: .known))
      #expect(.bool(authority.needsHomeTenant(for: account)) == parts[2])
    }
    for rule in row.fields["isRecognizedMicrosoftIdentityHost"]?.arrayValue ?? [] {
      let parts = rule.arrayValue ?? []
      #expect(.bool(CloudInstances.known.contains(parts[0].stringValue ?? "")) == parts[1])
    }
  }

  @Test(
    arguments: VectorFile.rows("oauth_error_mapping_tests") + VectorFile.rows("oauth_error_mapping_source"))
  func `Errors`(_ row: VectorRow) throws {
    let codes: [String: IdentityError.Code] = [
      "MSIDErrorUserCancel": .userCanceled, "MSIDErrorServerError": .serverError,
      "MSIDErrorServerInvalidGrant": .invalidGrant, "MSIDErrorServerInvalidRequest": .invalidRequest,
      "MSIDErrorServerInvalidClient": .invalidClient, "MSIDErrorServerInvalidScope": .invalidScope,
      "MSIDErrorInteractionRequired": .interactionRequired,
      "MSIDErrorInsufficientDeviceStrength": .insufficientDeviceStrength,
      "MSIDErrorServerInvalidRequestResetPasswordRequired": .resetPasswordRequired,
      "MSIDErrorServerUnauthorizedClient": .unauthorizedClient, "MSIDErrorServerAccessDenied": .userCanceled,
      "MSIDErrorServerProtectionPoliciesRequired": .serverProtectionPoliciesRequired,
      "MSIDErrorServerOauth": .authorizationFailed, "MSIDErrorAuthorizationFailed": .authorizationFailed,
    ]
    let expected = try #require(codes[row.string("expectedMSIDError") ?? row.string("msidError") ?? ""])
    let name = try #require(row.string("oauthError"))
    let numbers = row.fields["stsErrorCodes"]?.arrayValue?.compactMap { $0.numberValue.map(Int.init) } ?? []
    let spellings = row.fields["caseInsensitive"] == .bool(true) ? [name, name.uppercased()] : [name]
    for spelling in spellings {
      let error = IdentityError(refusal: spelling, subError: row.string("subError"), codes: numbers)
      #expect(error.code == expected)
    }
  }

  @Test(arguments: VectorFile.rows("telemetry_strings")) func `Telemetry`(_ row: VectorRow) throws {
    if row.string("header") == "x-client-current-telemetry" {
      let call = try #require(row.fields["apiId"]?.numberValue.map(Int.init))
      let reason = try #require(row.fields["refreshType"]?.numberValue.map(Int.init))
      #expect(ServerTelemetry.current(call, reason) == row.string("expected"))
      return
    }
    let telemetry = ServerTelemetry()
    for update in row.fields["updates"]?.arrayValue ?? [] {
      let fields = try #require(update.objectValue)
      telemetry.finished(
        Int(fields["apiId"]?.numberValue ?? 0),
        correlationID: fields["correlationId"]?.stringValue.flatMap(UUID.init(uuidString:)),
        error: fields["error"]?.stringValue)
    }
    #expect(telemetry.last == row.string("expected"))
  }

  @Test(arguments: VectorFile.rows("strings")) func `Strings`(_ row: VectorRow) throws {
    let expected = row.fields["expected"]
    let text = row.string("input")
    let list = row.fields["input"]?.arrayValue?.compactMap(\.stringValue) ?? []
    switch row.string("op") {
    case "formURLEncode":
      let text = try #require(text)
      #expect(.string(FormEncoding.encode(text)) == expected)
      #expect(FormEncoding.decodeOne(FormEncoding.encode(text).utf8) == text)
    case "base64UrlEncode": #expect(.string(Data(try #require(text).utf8).base64URL) == expected)
    case "base64UrlDecode" where expected == .null:
      // Empty text and white space name no account, whatever they decode to.
      #expect(ClientInfo(raw: try #require(text)) == nil)
    case "base64UrlDecode":
      let decoded = Data(base64URL: try #require(text)).map { String(decoding: $0, as: UTF8.self) }
      #expect(decoded.map(JSONValue.string) == expected)
    case "secretLoggingHash": #expect(.string(String(sha256Hex(try #require(text)).prefix(8))) == expected)
    // For the protocol of 2014, which is not spoken here.
    case "scopeFromResource": break
    case "scopeSetFromString", "normalizedScopeSet":
      let scopes = text.map { ScopeSet($0) } ?? ScopeSet(list)
      #expect(scopes.scopes.sorted() == expected?.arrayValue?.compactMap(\.stringValue))
    case "scopeSetMinusNormalized":
      let sets = try #require(row.fields["input"]?.arrayValue).map {
        $0.arrayValue?.compactMap(\.stringValue) ?? []
      }
      let rest = sets[0].filter { !ScopeSet(sets[1]).scopes.contains($0.normalized) }
      #expect(rest == expected?.arrayValue?.compactMap(\.stringValue))
    default: Issue.record("\(row.fields) is not understood")
    }
  }

  @Test(arguments: VectorFile.rows("pkce")) func `Proof key`(_ row: VectorRow) throws {
    let lengths = try ["verifierMinLength", "verifierMaxLength"].map { name in
      try #require(row.expected[name]?.numberValue.map(Int.init))
    }
    let verifier = ProofKey().verifier
    #expect((lengths[0]...lengths[1]).contains(verifier.count))
    #expect(.string(ProofKey.method) == row.expected["method"])
  }

  @Test func `The challenge of RFC 7636, appendix B`() {
    let proof = ProofKey(verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
    #expect(proof.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
  }
}
