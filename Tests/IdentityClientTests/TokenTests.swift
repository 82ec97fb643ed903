import Foundation
import TestSupport

@testable import IdentityClient

/// `token(for:)` where the lab cannot answer so; `LabServerTests` has the rest.
struct TokenTests {
  private static let named = #"{"access_token":{"acrs":null}}"#
  private static let own = #"{"access_token":{"xms_az":null}}"#

  @Test(arguments: [(Self.named, Self.named), (nil, Self.own)])
  func `A sign-in asks for the claims that the server named, else for those of the caller`(
    _ server: String?, _ expected: String
  ) async throws {
    let test = TestClient()
    _ = try await test.expired()
    let claims = server.map { ["claims": JSONValue.string($0)] } ?? [:]
    test.transport.answerTokens(.refusal("interaction_required", code: 50076, adding: claims))
    test.browser.person { _ throws(IdentityError) in throw IdentityError(.userCanceled, "") }
    await expectError(.userCanceled) {
      try await test.client.token(for: ["User.Read"], claims: ClaimsRequest(json: Self.own))
    }
    #expect(test.browser.lastQuery["claims"] == expected)
    #expect(test.browser.lastQuery["login_hint"] == "alice@contoso.test")
    #expect(test.browser.lastQuery["prompt"] == nil)
  }

  @Test func `No browser opens where a sign-in does not help`() async throws {
    let test = TestClient()
    _ = try await test.expired()
    let pages = test.browser.pages.count
    test.transport.answerTokens(.refusal("invalid_grant", code: 50105))
    let error = await expectError(.interactionRequired) { try await test.client.token(for: ["User.Read"]) }
    #expect(error?.advice?.contains("administrator") == true)
    #expect(test.browser.pages.count == pages)
  }

  @Test(arguments: [BrokerPolicy.automatic, .required])
  func `The broker's only account is used where the cache has none`(_ policy: BrokerPolicy) async throws {
    let broker = ScriptedBroker()
    let test = TestClient(broker: broker) { $0.brokerPolicy = policy }
    broker.answer { [clock = test.clock] _ in
      TestPerson.alice.brokerToken(at: clock.now, access: "brokered", scopes: "User.Read", hasIDToken: true)
    }
    broker.set(accounts: [TestPerson.alice.brokerAccount, TestPerson.bob.brokerAccount])
    await expectError(.ambiguousAccount) { try await test.client.token(for: ["User.Read"]) }
    broker.set(accounts: [TestPerson.alice.brokerAccount])
    #expect(try await test.client.token(for: ["User.Read"]) { _ in }.accessToken == "brokered")
    #expect(broker.interactive.isEmpty && test.browser.pages.isEmpty && test.transport.requests.isEmpty)
    // By now the cache has one, which counts unless only the broker may be asked.
    broker.set(accounts: [TestPerson.alice.brokerAccount, TestPerson.bob.brokerAccount])
    await expectOutcome(policy == .required ? .ambiguousAccount : nil) { () throws(IdentityError) in
      try await test.client.token(for: ["User.Read"])
    }
  }

  @Test func `Where only the broker may be asked, it signs in in the place of a code`() async throws {
    let broker = ScriptedBroker()
    let test = TestClient(broker: broker) { $0.brokerPolicy = .required }
    broker.answer { [clock = test.clock] _ in
      TestPerson.alice.brokerToken(at: clock.now, access: "brokered", scopes: "User.Read", hasIDToken: true)
    }
    #expect(try await test.client.token(for: ["User.Read"]) { _ in }.accessToken == "brokered")
    #expect(broker.interactive.count == 1)
  }

  @Test func `A browser that does not start gives way to a code, if the program shows codes`() async throws {
    let test = TestClient()
    test.browser.person { _ throws(IdentityError) in throw IdentityError(.browserUnavailable, "") }
    await expectError(.browserUnavailable) { try await test.client.token(for: ["User.Read"]) }
    test.transport.answerDevices(.deviceCode())
    test.transport.answerTokens(test.tokens())
    #expect(try await test.client.token(for: ["User.Read"]) { _ in }.source == .network)
    #expect(test.browser.pages.count == 2)
  }

  @Test(arguments: ["", " "]) func `No request is sent for a client without an ID`(_ id: String) async throws
  {
    let test = TestClient(clientID: id)
    await expectError(.invalidParameter) { try await test.client.token(for: ["User.Read"]) }
    await expectError(.invalidParameter) { try await test.acquire() }
    await expectError(.invalidParameter) { try await test.silent(TestPerson.alice.brokerAccount) }
    await expectError(.invalidParameter) {
      try await test.client.acquireToken(DeviceCodeRequest(scopes: ["User.Read"]) { _ in })
    }
    #expect(test.browser.pages.isEmpty && test.transport.requests.isEmpty)
  }
}
