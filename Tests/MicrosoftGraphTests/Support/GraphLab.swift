import Foundation
import LabSupport
import MicrosoftGraph

/// A signed-in account at a lab, and a Graph client without real pauses.
struct GraphLab: Sendable {
  let lab = Lab.current
  let client: PublicClient
  let account: Account
  let scopes: [String]
  let transport: ScriptedTransport
  let clock = TestClock()

  init(
    user: String = "alice", scopes: [String] = ["User.Read"], capabilities: [String] = []
  ) async throws {
    let transport = ScriptedTransport(base: try lab.transport())
    client = try LabClient(transport: transport) { $0.capabilities = capabilities }.client
    (self.scopes, self.transport) = (scopes, transport)
    account = try await Self.signIn(lab, client, user, scopes, nil).account
  }

  private static func signIn(
    _ lab: Lab, _ client: PublicClient, _ user: String, _ scopes: [String], _ claims: ClaimsRequest?
  ) async throws(IdentityError) -> AuthenticationResult {
    let request = DeviceCodeRequest(scopes: scopes, claims: claims) { code in
      #expect(throws: Never.self) { try lab.approveDevice(userCode: code.userCode, as: user) }
    }
    return try await client.acquireToken(request)
  }

  /// Signs the user in again.
  func signIn(claims: ClaimsRequest?) async throws(IdentityError) -> AuthenticationResult {
    try await Self.signIn(lab, client, account.username ?? "", scopes, claims)
  }

  func silent(_ claims: ClaimsRequest?) async throws(IdentityError) -> AuthenticationResult {
    try await client.acquireTokenSilent(SilentRequest(scopes: scopes, account: account, claims: claims))
  }

  func cloud() throws -> GraphCloud {
    try GraphCloud(baseURL: #require(URL(string: lab.graphURL)))
  }

  /// A client whose pauses are recorded and take no time.
  func graph(
    retries: GraphRetryPolicy = GraphRetryPolicy(), tokens: GraphClient.TokenSource? = nil
  ) throws -> GraphClient {
    let fromCache: GraphClient.TokenSource = { claims throws(IdentityError) in try await silent(claims) }
    return GraphClient(
      transport: transport, cloud: try cloud(), retries: retries, timing: clock.timing,
      tokens: tokens ?? fromCache)
  }

  /// The requests to Graph.
  var sent: [SeenRequest] { transport.requests.filter { $0.path.hasPrefix("/v1.0") } }
}

/// Expects a call to fail with an error of one code, and returns the error.
@discardableResult
func expectGraphError<T>(
  _ code: GraphError.Code, sourceLocation: SourceLocation = #_sourceLocation, in call: () async throws -> T
) async -> GraphError? {
  await #expect(throws: GraphError(code, ""), sourceLocation: sourceLocation) { try await call() }
}
