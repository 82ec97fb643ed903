import Foundation
import TestSupport

@testable import IdentityBroker

/// What is sent to the broker and what is read from its answers, without a bus.
struct CodecTests {
  private let now = Date(timeIntervalSince1970: 1_800_000_000)
  private let home = "70000000-0000-4000-8000-000000000001"

  private func request(_ change: (inout BrokerRequest) -> Void = { _ in }) throws -> BrokerRequest {
    let url = try #require(URL(string: "https://login.microsoftonline.com/\(home)"))
    var request = BrokerRequest(
      clientID: "D7B530A4-7680-4C23-A8BF-C52C121D2E87", authority: try Authority(url: url),
      scopes: ["https://graph.microsoft.com/User.Read"], correlationID: UUID())
    change(&request)
    return request
  }

  private func json(_ text: String) throws -> JSONValue {
    try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
  }

  /// An unsigned JSON Web Token.
  private func token(_ claims: String) -> String {
    "eyJhbGciOiJIUzI1NiJ9." + Data(claims.utf8).base64URL + ".c2ln"
  }

  private func answer(_ members: String = "") throws -> BrokerToken {
    try BrokerResponse.token(
      in:
        #"{"brokerTokenResponse":{\#(members.isEmpty ? "" : "\(members.dropFirst()),")"accessToken":"opaque"}}"#,
      at: now)
  }

  @Test func `A token that has expired is no token`() throws {
    for end in [1_799_999_999, 1_800_000_000] {
      let error = #expect(throws: IdentityError(.brokerFailed, "")) {
        try answer(#","accessToken":"\#(token(#"{"exp":\#(end)}"#))""#)
      }
      // The broker works.
      #expect(error?.brokerStatus != nil)
    }
  }

  @Test func `A silent request has what the clients send that are known to work`() throws {
    let account = try #require(json(StandInBroker.account()).objectValue)
    let method = BrokerMethod.tokenSilently(try request(), account: account)
    #expect(method.name == "acquireTokenSilently")
    let expected = #"""
      {"authParameters":{"account":\#(StandInBroker.account()),"additionalQueryParametersForAuthorization":{},
      "authority":"https://login.microsoftonline.com/\#(home)","authorizationType":1,
      "clientId":"d7b530a4-7680-4c23-a8bf-c52c121d2e87",
      "redirectUri":"https://login.microsoftonline.com/common/oauth2/nativeclient",
      "requestedScopes":["https://graph.microsoft.com/User.Read"],"username":"alice@contoso.test",
      "uxContextHandle":-1}}
      """#
    #expect(try json(method.text) == json(expected))
  }

  @Test func `An interactive request says whom to propose, what to ask, and what a resource wants`() throws {
    let request = try request {
      ($0.loginHint, $0.prompt, $0.claims) = ("bob@contoso.test", .login, #"{"access_token":{}}"#)
      ($0.tokenToReplace, $0.extraQueryParameters) = ("old", ["domain_hint": "contoso.test"])
    }
    let method = BrokerMethod.tokenInteractively(request, account: nil)
    // Without a limit of time.
    #expect(method.asksPerson)
    let parameters = try json(method.text).objectValue?["authParameters"]?.objectValue
    #expect(parameters?["account"] == .null)
    #expect(parameters?["authorizationType"]?.numberValue == 6)
    #expect(parameters?["username"] == "bob@contoso.test")
    #expect(parameters?["prompt"] == "login")
    #expect(parameters?["decodedClaims"] == #"{"access_token":{}}"#)
    #expect(parameters?["accessTokenToRenew"] == "old")
    #expect(
      parameters?["additionalQueryParametersForAuthorization"] == .object(["domain_hint": "contoso.test"]))
  }

  @Test(
    .fault("native slash"),
    arguments: [
      ("https://login.microsoftonline.us/common", nil),
      ("https://login.partner.microsoftonline.cn/common", "http://localhost"),
      (
        "https://login.microsoftonline.com/common",
        "https://login.microsoftonline.us/common/oauth2/nativeclient"
      ),
      // Another URI, with a slash at its end.
      (
        "https://login.microsoftonline.com/common",
        "https://login.microsoftonline.us/common/oauth2/nativeclient/"
      ),
    ] as [(String, String?)])
  func `The redirect URI is the native client's of the cloud`(
    authority: String, own: String?
  ) throws {
    let request = try request {
      $0.authority = try! Authority(url: URL(string: authority)!)
      $0.redirectURI = own.flatMap(URL.init(string:))
    }
    let expected =
      own?.hasSuffix("/") == true
      ? "https://login.microsoftonline.com/common/oauth2/nativeclient"
      : authority.contains(".cn")
        ? "https://login.partner.microsoftonline.cn/common/oauth2/nativeclient"
        : "https://login.microsoftonline.us/common/oauth2/nativeclient"
    #expect(BrokerMethod.redirectURI(of: request) == expected)
  }

  @Test func `A token ends when it says so itself, whatever the broker says`() throws {
    let text = #"{"brokerTokenResponse":{"accessToken":"\#(token(#"{"exp":1800001234}"#))","expiresOn":1}}"#
    #expect(try BrokerResponse.token(in: text, at: now).expiresOn.timeIntervalSince1970 == 1_800_001_234)
    for (end, isValid) in [(0, false), (1, true), (253_402_300_799, true), (253_402_300_800, false)] {
      let read = BrokerResponse.expiry(of: token(#"{"exp":\#(end)}"#), saying: nil, at: now)
      #expect(read == (isValid ? Date(timeIntervalSince1970: Double(end)) : now + 3600), "\(end)")
    }
  }

  @Test(
    arguments: [
      // As Microsoft's brokers have it, and Himmelblau's main.
      ("1800002000000", 2000), (#""1800002000000""#, 2000),
      // Himmelblau 3.1.9: seconds added to milliseconds.
      ("1800000003600", 3600),
      // Seconds in place of milliseconds, the past, a hundred days, and what is no time.
      ("1800002000", 3600), ("1799999999000", 3600), ("1808640000001", 3600), ("null", 3600),
      (#""soon""#, 3600),
      ("[]", 3600), ("-1", 3600), ("1e300", 3600),
    ])
  func `The broker's expiry counts if a token has none`(
    word: String, seconds: Double
  ) throws {
    #expect(try answer(#","expiresOn":\#(word)"#).expiresOn.timeIntervalSince(now) == seconds)
  }

  @Test func `A version is a text or a number`() throws {
    #expect(try BrokerResponse.version(in: #"{"linuxBrokerVersion":"2.5.2"}"#) == "2.5.2")
    #expect(try BrokerResponse.version(in: #"{"linuxBrokerVersion":2.5}"#) == "2.5")
    for none in [#""""#, "null", "[]"] {
      #expect(throws: IdentityError(.brokerFailed, "")) {
        try BrokerResponse.version(in: #"{"linuxBrokerVersion":\#(none)}"#)
      }
    }
  }

  @Test func `Granted scopes are a text, a list, or those asked for`() throws {
    #expect(try answer(#","grantedScopes":"a b""#).grantedScopes == "a b")
    #expect(try answer(#","grantedScopes":["a","b"]"#).grantedScopes == "a b")
    for none in ["", #","grantedScopes":"""#, #","grantedScopes":null"#, #","grantedScopes":7"#] {
      #expect(try answer(none).grantedScopes == nil, "\(none)")
    }
  }

  @Test func `The account, the client info or neither names the token's account`() throws {
    let info = Data(#"{"uid":"U","utid":"T"}"#.utf8).base64URL
    #expect(try answer().account == nil)
    #expect(try answer(#","clientInfo":"\#(info)""#).account?.homeAccountID == "u.t")
    let listed = try answer(#","account":{"homeAccountId":"U.T","username":"u@x","realm":"T"}"#).account
    #expect(listed?.homeAccountID == "u.t")
    #expect(listed?.username == "u@x")
    #expect(listed?.tenantProfiles.first?.isHomeTenant == true)
    #expect(throws: IdentityError.self) {
      try answer(#","clientInfo":"\#(info)","account":{"homeAccountId":"V.T"}"#)
    }
  }

  @Test func `An invalid ID token is left out, and a refresh token is never read`() throws {
    #expect(try answer(#","idToken":"e30=","refreshToken":"refresh""#).idToken == nil)
    let idToken = token(#"{"oid":"1"}"#)
    #expect(try answer(#","idToken":"\#(idToken)""#).idToken == idToken)
  }

  @Test func `A token's description never has it`() throws {
    let token = try answer()
    #expect(!"\(token)\(String(reflecting: token))".contains("opaque"))
  }

  @Test(
    .fault("bad answer"),
    arguments: [
      "", " \n", "{", "[]", "null", "7", #""text""#, "{}", #"{"brokerTokenResponse":null}"#,
      #"{"brokerTokenResponse":[]}"#, #"{"brokerTokenResponse":{}}"#,
      #"{"brokerTokenResponse":{"accessToken":""}}"#,
      #"{"brokerTokenResponse":{"accessToken":7}}"#, #"{"brokerTokenResponse":{"accessToken":"a b"}}"#,
      #"{"brokerTokenResponse":{"accessToken":"a\r\nb"}}"#,
      #"{"brokerTokenResponse":{"accessToken":"a","accessTokenType":1}}"#,
      #"{"brokerTokenResponse":{"accessToken":"a","accessTokenType":"pop"}}"#,
      #"{"accounts":1}"#, #"{"accounts":[1]}"#, #"{"accounts":[{}]}"#, #"{"error":"odd"}"#, #"{"error":{}}"#,
      #"{"error":{"status":"odd"}}"#, #"{"error":{"status":4711}}"#,
      String(repeating: "[", count: 100),
    ])
  func `Any invalid response means that the broker failed`(text: String) throws {
    for read in [
      { _ = try BrokerResponse.token(in: text, at: now) }, { _ = try BrokerResponse.accounts(in: text) },
      { _ = try BrokerResponse.version(in: text) },
    ] as [() throws -> Void] {
      #expect(throws: IdentityError(.brokerFailed, "")) { try read() }
    }
  }

  @Test(.fault("bad answer")) func `Nor is one that is too large`() throws {
    let text = #"{"accounts":[],"x":""# + String(repeating: "x", count: 2 << 20) + #""}"#
    #expect(throws: IdentityError(.brokerFailed, "")) { try BrokerResponse.accounts(in: text) }
  }

  @Test func `An account that is listed in two tenants is one with two profiles, its home first`() throws {
    let (other, third) = ("60000000-0000-4000-8000-000000000002", "80000000-0000-4000-8000-000000000003")
    let bob = StandInBroker.account("Bob", uid: "b0b00000-0000-4000-8000-000000000001")
    let guest = StandInBroker.account(realm: other).replacing("alice@contoso.test", with: "alice#EXT#")
    let list = [guest, StandInBroker.account(), bob].joined(separator: ",")
    let text = #"{"accounts":[\#(list)]}"#
    let listed = try BrokerResponse.accounts(in: text)
    let accounts = BrokerAccount.accounts(in: listed)
    #expect(accounts.map(\.username) == ["alice@contoso.test", "bob@contoso.test"])
    #expect(accounts[0].tenantProfiles.map(\.tenantID) == [home, other])
    #expect(accounts[0].source == "broker")
    // What is sent back is the entry for the tenant asked for, else for the home.
    #expect(BrokerAccount.entry(for: accounts[0], tenant: other, in: listed)?.realm == other)
    #expect(BrokerAccount.entry(for: accounts[0], tenant: "common", in: listed)?.realm == home)
    #expect(BrokerAccount.entry(named: "ALICE@contoso.test", tenant: nil, in: listed)?.realm == home)
    let guests = [guest, StandInBroker.account(realm: third)].joined(separator: ",")
    let entries = try BrokerResponse.accounts(in: #"{"accounts":[\#(guests)]}"#)
    #expect(BrokerAccount.entry(for: accounts[0], tenant: "common", in: entries)?.realm == other)
    #expect(BrokerAccount.entry(named: "carol@contoso.test", tenant: nil, in: listed) == nil)
    let twin = guest.replacing("alice#EXT#", with: "twin#EXT#")
    let twins = try BrokerResponse.accounts(in: #"{"accounts":[\#(guest),\#(twin)]}"#)
    #expect(BrokerAccount.entry(for: accounts[0], tenant: other, in: twins)?.username == "alice#EXT#")
  }

  @Test func `An empty list of Himmelblau's is not a failure`() throws {
    let text = #"{"error":{"context":"Unable to find account","status":0,"subStatus":0}}"#
    for text in [text, #"{"error":{"status":16}}"#, #"{"accounts":[]}"#] {
      #expect(try BrokerResponse.accounts(in: text).isEmpty)
    }
  }

  private func refusal(_ text: String) throws -> IdentityError {
    try #require(#expect(throws: IdentityError.self) { try BrokerResponse.token(in: text, at: now) })
  }

  @Test func `Microsoft's broker after 2.0.1 reports a refusal in a text`() throws {
    let error = try refusal(
      #"""
      {"brokerTokenResponse":{"error":{"context":"Recieved an error from AAD. Code: 'invalid_grant' description: '(pii)'
      correlation id: '1' suberror: 'token_expired'","diagnostics":null,"errorCode":0,"status":2,"subStatus":0,
      "tag":595719680},"subError":""},"telemetry":{"broker_version":"2.5.2"}}
      """#.replacing("\n", with: " "))
    #expect(error.code == .interactionRequired)
    #expect((error.oauthError, error.subError) == ("invalid_grant", "token_expired"))
    #expect(error.brokerVersion == "2.5.2")
  }

  @Test func `And up to 2.0.1 in members of its own`() throws {
    let error = try refusal(
      #"""
      {"brokerTokenResponse":{"accessTokenType":0,"error":{"context":"AADSTS50078: …","diagnostics":
      {"raw_error_code":"invalid_grant","exception_type":"UiRequiredException","oauth2_sub_error_code":"basic_action"},
      "errorCode":0,"status":2,"subStatus":0,"tag":0},"expiresOn":0,"extendedExpiresOn":0},"telemetry":{}}
      """#.replacing("\n", with: " "))
    #expect(error.code == .interactionRequired)
    #expect((error.oauthError, error.subError) == ("invalid_grant", "basic_action"))
    #expect(error.stsErrorCodes == [50078])
    #expect(error.advice?.contains("second factor") == true)
  }

  @Test(
    arguments: [
      (0, .brokerFailed), (1, .brokerFailed), (2, .interactionRequired), (3, .network), (4, .network),
      (5, .network),
      (6, .brokerFailed), (7, .userCanceled), (8, .brokerFailed), (9, .authorizationFailed),
      (10, .brokerFailed),
      (11, .authorizationFailed), (13, .interactionRequired), (14, .interactionRequired), (15, .brokerFailed),
      (16, .interactionRequired), (17, .network), (20, .workplaceJoinRequired), (21, .brokerFailed),
    ] as [(Int, IdentityError.Code)])
  func `Each status has its meaning`(status: Int, code: IdentityError.Code) throws {
    for text in [
      #"{"error":{"status":\#(status)}}"#, #"{"brokerTokenResponse":{"error":{"status":"\#(status)"}}}"#,
      // Of two the outer one.
      #"{"error":{"status":\#(status)},"brokerTokenResponse":{"error":{"status":21}}}"#,
    ] {
      #expect(try refusal(text).code == code, "\(text)")
    }
  }

  @Test(arguments: [12, 18]) func `Another account's token counts where there is one`(status: Int) throws {
    let text = #"{"brokerTokenResponse":{"accessToken":"a","error":{"status":\#(status)}}}"#
    #expect(try BrokerResponse.token(in: text, at: now).accessToken == "a")
    #expect(try refusal(#"{"brokerTokenResponse":{"error":{"status":\#(status)}}}"#).code == .brokerFailed)
  }

  @Test func `What a broker says cannot drive a terminal, and a token in it is left out`() throws {
    let token = token(#"{"exp":1800001234,"name":"Alice"}"#)
    let error = try refusal(#"{"error":{"status":0,"context":"odd \u001b[31m \#(token) end"}}"#)
    #expect(!error.message.contains("\u{1B}"))
    #expect(!error.message.contains(token) && !error.message.contains("eyJ"))
    #expect(error.message.contains("(token) end"))
    let (word, long) = ("eyJ45678901234567890", "eyJ456789012345678901")
    #expect("\(word) \(long)".withoutTokens == "\(word) (token)")
  }

  @Test func `A redirect URI that is not registered is named`() throws {
    let error = try refusal(#"{"error":{"status":9,"context":"AADSTS50011: no such URI"}}"#)
    #expect(error.stsErrorCodes == [50011])
    #expect(error.advice?.contains("https://login.microsoftonline.com/common/oauth2/nativeclient") == true)
  }
}
