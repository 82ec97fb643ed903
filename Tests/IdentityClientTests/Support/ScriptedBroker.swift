import Foundation
import TestSupport

@testable import IdentityClient

/// A broker that a test scripts.
final class ScriptedBroker: TokenBroker {
  typealias Answer = @Sendable (BrokerRequest) async throws(IdentityError) -> BrokerToken

  private struct State {
    var accounts: [Account] = []
    var requests: [BrokerRequest] = []
    var interactive: [BrokerRequest] = []
    var questions = 0
    var answer: Answer?
    var asksPerson = true
    var borrowsTokens = false
    var failure: IdentityError?
  }

  private let state = Mutex(State())
  let name = "broker"

  /// Its response to every request for a token; without it there is no broker.
  func answer(_ answer: @escaping Answer) { state.withLock { $0.answer = answer } }
  func set(accounts: [Account]) { state.withLock { $0.accounts = accounts } }
  func set(asksPerson: Bool) { state.withLock { $0.asksPerson = asksPerson } }
  func set(borrowsTokens: Bool) { state.withLock { $0.borrowsTokens = borrowsTokens } }
  /// What every call fails with.
  func fail(_ code: IdentityError.Code) { state.withLock { $0.failure = IdentityError(code, "The broker.") } }

  var borrowsTokens: Bool { state.withLock { $0.borrowsTokens } }

  /// The requests without a person, and with one.
  var requests: [BrokerRequest] { state.withLock { $0.requests } }
  var interactive: [BrokerRequest] { state.withLock { $0.interactive } }
  /// How often it was asked anything.
  var questions: Int { state.withLock { $0.questions } }

  private func ask<T: Sendable>(_ read: (State) -> T) throws(IdentityError) -> T {
    let (failure, value) = state.withLock { state in
      state.questions += 1
      return (state.failure, read(state))
    }
    if let failure { throw failure }
    return value
  }

  func isAvailable() throws(IdentityError) -> Bool { try ask { $0.answer != nil } }
  func accounts(clientID: String, correlationID: UUID) throws(IdentityError) -> [Account] {
    try ask(\.accounts)
  }
  func supportsInteractiveSignIn(clientID: String, correlationID: UUID) throws(IdentityError) -> Bool {
    try ask { $0.asksPerson && $0.answer != nil }
  }
  func tokenSilently(_ request: BrokerRequest) async throws(IdentityError) -> BrokerToken {
    state.withLock { $0.requests.append(request) }
    guard let answer = try ask(\.answer) else { throw IdentityError(.noBroker, "Absent.") }
    return try await answer(request)
  }
  func tokenInteractively(_ request: BrokerRequest) async throws(IdentityError) -> BrokerToken {
    state.withLock { $0.interactive.append(request) }
    guard let answer = try ask(\.answer) else { throw IdentityError(.noBroker, "Absent.") }
    return try await answer(request)
  }
}

extension TestPerson {
  /// The account as a broker lists it.
  var brokerAccount: Account {
    Account(
      homeAccountID: homeAccountID, username: username, environment: "login.windows.net",
      tenantProfiles: [
        TenantProfile(
          tenantID: home, localAccountID: uid, username: username, name: "A Name",
          environment: "login.windows.net",
          isHomeTenant: true, claims: nil)
      ], source: "broker")
  }

  func brokerToken(
    at now: Date, access: String = "brokered-1", scopes: String = "User.Read openid profile",
    hasIDToken: Bool = true
  ) -> BrokerToken {
    BrokerToken(
      accessToken: access, expiresOn: now.addingTimeInterval(3600), grantedScopes: scopes,
      idToken: hasIDToken ? idToken(at: now) : nil, account: brokerAccount)
  }
}
