import Foundation
@testable import MSAL
import TestSupport

extension ApplicationTests {
  /// The settings of the process are read for each request.
  struct SettingsTests {
    let entra = FakeEntra()

    @Test func `The retry count is read when a request is made`() async throws {
      let application = try MSALPublicClientApplication.test(entra)
      let account = try await application.signIn().account
      let http = MSALGlobalConfig.httpConfig
      defer { (http.retryCount, http.retryInterval, http.timeoutIntervalForRequest) = (1, 0.5, 300) }
      // Absurd values become sensible ones.
      (http.retryCount, http.retryInterval, http.timeoutIntervalForRequest) = (-1, -1, 1e9)
      #expect(http.retryCount == 0 && http.retryInterval == 0 && http.timeoutIntervalForRequest == 86_400)
      (http.retryCount, http.retryInterval, http.timeoutIntervalForRequest) = (3, 0, 7)
      entra.goOffline()
      let before = entra.server.requests.count
      await #expect(throws: NSError.self) { try await application.silent(account, forceRefresh: true) }
      let timeouts = entra.server.requests.dropFirst(before).compactMap(\.timeout)
      // The call has one deadline: each attempt has what is left.
      #expect(timeouts.count == 4 && timeouts.allSatisfy { $0 <= .seconds(7) })
    }

    @Test func `Only a message with personal data is marked so`() async throws {
      let application = try MSALPublicClientApplication.test(entra)
      // The application was made before the setting.
      defer { MSALGlobalConfig.loggerConfig.logMaskingLevel = .settingsMaskAllPII }
      for level in [MSALLogMaskingLevel.settingsMaskAllPII, .settingsMaskEUIIOnly] {
        MSALGlobalConfig.loggerConfig.logMaskingLevel = level
        let masked = try await loggedMessages { _ = try await application.signIn() }
        #expect(masked.contains { $0.text.contains("(masked)") } && !masked.contains(where: \.containsPII))
      }
      MSALGlobalConfig.loggerConfig.logMaskingLevel = .settingsMaskSecretsOnly
      let plain = try await loggedMessages { _ = try await application.signIn() }
      let person = TestPerson.alice.homeAccountID
      #expect(plain.contains { $0.text.contains(person) } && plain.contains { !$0.text.contains(person) })
      for message in plain {
        #expect(message.containsPII == message.text.contains(person), "\(message.text)")
      }
      #expect(!plain.contains { $0.text.contains("made-up") })
    }
  }
}
