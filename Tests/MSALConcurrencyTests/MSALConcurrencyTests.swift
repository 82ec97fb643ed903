import MSAL
import Testing

/// A program in the Swift 6 language mode, whose compiler sees to it that nothing is shared that must not be. That
/// it compiles is most of the test.
@MainActor
final class ModernProgram {
  let application: MSALPublicClientApplication
  var result: MSALResult?
  var accounts: [MSALAccount] = []

  init() throws {
    let config = MSALPublicClientApplicationConfig(clientId: "11111111-2222-4333-8444-555555555555")
    application = try MSALPublicClientApplication(configuration: config)
  }

  /// Parameters that the program keeps, and so could change at any time.
  let parameters = MSALDeviceCodeTokenParameters(scopes: []) { code in
    Task { @MainActor in _ = code.message }
  }

  func signIn() async throws {
    result = try await application.acquireToken(with: parameters)
  }

  func refresh(_ account: MSALAccount) async throws {
    let parameters = MSALSilentTokenParameters(scopes: ["user.read"], account: account)
    parameters.authority = result?.authority
    result = try await application.acquireTokenSilent(with: parameters)
    (accounts, _) = ([account], try await application.currentAccount(with: nil))
  }

  func signInWithABlock(_ done: @escaping @Sendable @MainActor (NSError?) -> Void) {
    application.acquireToken(with: parameters) { result, error in
      let error = error as NSError?
      Task { @MainActor in
        self.result = result
        done(error)
      }
    }
  }
}

/// Uses an application from a place of its own.
actor Worker {
  func accounts(of application: MSALPublicClientApplication) async throws -> [MSALAccount] {
    let parameters = MSALAccountEnumerationParameters()
    return try await application.accountsFromDevice(for: parameters)
  }
}

@MainActor
struct MSALConcurrencyTests {
  @Test func `A refused request is caught in Swift 6`() async throws {
    let program = try ModernProgram()
    do {
      try await program.signIn()
      Issue.record("A request without scopes should be refused.")
    } catch let error as NSError {
      #expect(error.domain == MSALErrorDomain)
      #expect(error.userInfo[MSALInternalErrorCodeKey] as? Int == -42000)
    }
    let code = await withCheckedContinuation { continuation in
      program.signInWithABlock { continuation.resume(returning: $0?.code) }
    }
    #expect(code == MSALError.internal.rawValue)
  }
}
