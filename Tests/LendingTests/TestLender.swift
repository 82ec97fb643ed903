import TestSupport

@testable import Lending

/// A lender of tokens that the test makes, with a clock that it sets.
final class TestLender: Sendable {
  struct Call: Equatable, Sendable {
    let scopes: [String]
    let isForced: Bool
  }

  static let client = LentThings.client
  static let tenant = LentThings.tenant
  static let alice = Account(
    homeAccountID: LentThings.account, username: "alice@contoso.test",
    environment: "login.windows.net",
    tenantProfiles: [
      TenantProfile(
        tenantID: tenant, localAccountID: nil, username: "alice@contoso.test", name: nil,
        environment: "login.windows.net", isHomeTenant: true, claims: nil)
    ])

  let directory: TemporaryDirectory
  let lender: Lender
  /// What has happened.
  private let log = Watched((calls: [Call](), events: [LendingEvent]()))
  /// In whole seconds, so that no time is rounded.
  private let start = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
  /// How far the clocks are from the start.
  let time = Watched((uptime: Duration.zero, wall: Duration.zero))

  init(
    _ scopes: [[String]] = [["User.Read", "Mail.Read"], ["https://management.azure.com/.default"]],
    at place: Lender.Place? = nil, duration: Duration = .seconds(3600), isOpenToAnyUser: Bool = false,
    token: @escaping @Sendable (Call, _ number: Int) async throws(IdentityError) -> AuthenticationResult = {
      (call, number) throws(IdentityError) in result(call.scopes, "token-\(number)")
    }, cached: (@Sendable (_ scopes: [String]) -> AuthenticationResult?)? = nil,
    renewalTimeout: Duration = Lender.renewalTimeout,
    asking question: Lender.PermissionHandler? = nil
  ) throws {
    directory = try TemporaryDirectory()
    lender = try Lender(
      Self.loan(scopes, lasting: duration, from: start),
      at: place ?? .socket(path: directory.path + "/loan.sock"),
      isOpenToAnyUser: isOpenToAnyUser,
      token: { [log] scopes, renewal throws(IdentityError) in
        if renewal == .never, let cached { return cached(scopes) }
        let call = Call(scopes: scopes, isForced: renewal == .always)
        let number = log.change { log in
          log.calls.append(call)
          return log.calls.count
        }
        return try await token(call, number)
      }, asking: question, log: { [log] event in log.change { $0.events.append(event) } },
      now: { [start, time] in start + (time.read(\.wall) / .seconds(1)) },
      uptime: { [time] in time.read(\.uptime) }, renewalTimeout: renewalTimeout)
  }

  deinit { lender.close() }

  var calls: [Call] { log.read(\.calls) }
  var events: [LendingEvent] { log.read(\.events) }

  /// Where it listens: at one of these.
  var socket: String? { if case .socket(let path) = lender.address { path } else { nil } }
  var port: Int? { if case .endpoint(let url, _) = lender.address { url.port } else { nil } }

  /// Lets so much time pass.
  func pass(_ duration: Duration) {
    time.change { ($0.uptime, $0.wall) = ($0.uptime + duration, $0.wall + duration) }
  }

  /// Sends a request as a borrower does, with the secret if there is one; `{port}` stands for the port.
  func send(
    _ target: String = "/token?api-version=2019-08-01&scope=User.Read", method: String = "GET",
    host: String? = nil, fields: [String] = [], secret: Bool = true
  ) async -> LenderAnswer {
    var host = host ?? "localhost"
    var fields = fields
    if case .endpoint(let url, let value) = lender.address {
      host = (host == "localhost" ? "localhost:{port}" : host).replacing("{port}", with: "\(url.port ?? 0)")
      if secret { fields.append("X-IDENTITY-HEADER: \(value)") }
    }
    guard let client = RawClient(lender) else { return LenderAnswer(text: "") }
    let lines = ["\(method) \(target) HTTP/1.1", "Host: \(host)"] + fields
    client.write(lines.joined(separator: "\r\n") + "\r\n\r\n")
    return await client.answer()
  }
}

extension TestLender {
  /// A loan of alice's tokens.
  static func loan(
    _ scopes: [[String]] = [["User.Read"]], lasting duration: Duration, from start: Date = Date()
  ) throws -> Loan {
    try Loan(
      scopes: scopes, account: alice, clientID: client, authority: .default, duration: duration, from: start)
  }

  /// Expects an answer to be a refusal, and that no token was asked for.
  func expectRefusal(
    _ code: LoanRefusal.Code, _ status: Int, of answer: LenderAnswer,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    #expect(answer.status == status, sourceLocation: sourceLocation)
    #expect(try answer.refusal() == code, sourceLocation: sourceLocation)
    #expect(calls.isEmpty, sourceLocation: sourceLocation)
  }
}

/// A token as the sign-in layer gives it.
func result(
  _ scopes: [String], _ token: String, lasting seconds: Double = 3600,
  source: AuthenticationResult.Source = .cache, account: Account = TestLender.alice
) -> AuthenticationResult {
  AuthenticationResult(
    accessToken: token, expiresOn: Date() + seconds, scopes: scopes + ["openid", "profile"],
    idToken: "secret-id-token", claims: nil, account: account, tenantProfile: account.tenantProfiles.first,
    authority: .default, correlationID: UUID(), source: source)
}

/// What a lender sent.
struct LenderAnswer: Sendable {
  let text: String

  var status: Int? { httpStatus(of: text) }

  func members() throws -> JSONObject {
    let body = text.split(separator: "\r\n\r\n", maxSplits: 1).last ?? ""
    return try JSONDecoder().decode(JSONObject.self, from: Data(body.utf8))
  }

  func token() throws -> JSONObject {
    try #require(status == 200, "\(text)")
    return try members()
  }

  func accessToken() throws -> String? { try token()["access_token"]?.stringValue }

  /// The code of the refusal, whose other members are checked.
  func refusal() throws -> LoanRefusal.Code? {
    let members = try members()
    #expect(members["statusCode"]?.numberValue == status.map(Double.init))
    #expect(members["error_description"]?.stringValue.nonBlank != nil)
    #expect(text.contains("\r\nCache-Control: no-store\r\n"))
    return members["error"]?.stringValue.flatMap(LoanRefusal.Code.init)
  }
}

extension RawClient {
  convenience init?(_ lender: Lender) {
    switch lender.address {
    case .socket(let path): self.init(socket: path)
    case .endpoint(let url, _): self.init(UInt16(url.port ?? 0))
    }
  }

  /// What the lender sends until it closes the connection.
  func answer() async -> LenderAnswer { LenderAnswer(text: await readToEnd()) }
}
