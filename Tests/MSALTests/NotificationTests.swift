import Foundation
@testable import MSAL
import TestSupport

extension ApplicationTests {
  /// The notifications about the browser.
  struct NotificationTests {
    private struct Heard: Sendable, Equatable {
      var name: Notification.Name
      var url: String?
      var errorCode: Int?
      /// Identifies the request.
      var errorNames: [String: String] = [:]
      var isOnMainQueue = true
    }

    private static let names: [Notification.Name] = [
      .MSALWebAuthDidStartLoad, .MSALWebAuthDidFinishLoad, .MSALWebAuthDidFail, .MSALWebAuthDidComplete,
    ]

    private static let key = DispatchSpecificKey<Bool>()

    private let entra = FakeEntra()
    private let application: MSALPublicClientApplication
    private let heard = AsyncStream<Heard>.makeStream()

    init() throws { application = try .test(entra) }

    @Test func `Names equal those on Apple's systems`() {
      #expect(
        Self.names.map(\.rawValue) == [
          "MSALWebAuthDidStartLoadNotification", "MSALWebAuthDidFinishLoadNotification",
          "MSALWebAuthDidFailNotification", "MSALWebAuthDidCompleteNotification",
        ])
    }

    @Test func `A sign-in posts its start, finish and completion`() async throws {
      let tokens = await observe()
      defer { tokens.forEach(NotificationCenter.default.removeObserver) }
      _ = try await application.signIn()
      let page = "https://login.microsoftonline.com/common/oauth2/v2.0/authorize"
      let redirect = "http://localhost:37469"
      #expect(
        await hear() == [
          Heard(name: .MSALWebAuthDidStartLoad, url: page),
          Heard(name: .MSALWebAuthDidFinishLoad, url: redirect),
          Heard(name: .MSALWebAuthDidComplete, url: redirect),
        ])
    }

    @Test func `A closed browser posts a failure, a silent request no notification`() async throws {
      let account = try await application.signIn().account
      let tokens = await observe()
      defer { tokens.forEach(NotificationCenter.default.removeObserver) }
      try await application.silent(account)
      entra.closePages()
      await #expect(throws: NSError.self) { try await application.signIn() }
      let heard = await hear()
      #expect(heard.map(\.name) == [.MSALWebAuthDidStartLoad, .MSALWebAuthDidFail])
      #expect(heard.last?.errorCode == MSALError.userCanceled.rawValue)
      #expect(heard.allSatisfy { $0.isOnMainQueue })
    }

    @Test func `A failure notification has the error of the request`() async throws {
      let account = try await application.signIn().account
      let tokens = await observe()
      defer { tokens.forEach(NotificationCenter.default.removeObserver) }
      entra.closePages()
      let parameters = MSALInteractiveTokenParameters.userRead()
      parameters.account = account
      let error = await #expect(throws: NSError.self) {
        try await application.acquireToken(with: parameters)
      }
      let names = Self.errorNames(in: error)
      #expect(names.count == 3 && names[MSALHomeAccountIdKey] == account.identifier)
      #expect(await hear().last?.errorNames == names)
    }

    @Test func `A response to the app's own scheme completes the sign-in, and is posted`() async throws {
      entra.browser.idle()
      let application = try MSALPublicClientApplication.test(entra) { $0.redirectUri = "example.app://auth" }
      let tokens = await observe()
      defer { tokens.forEach(NotificationCenter.default.removeObserver) }
      let task = Task { try await application.signIn() }
      let state = try #require(try await entra.browser.nextPage().parameter("state"))
      let foreign = try #require(URL(string: "example.app://auth?code=secret&state=another"))
      #expect(!MSALPublicClientApplication.handleMSALResponse(foreign, sourceApplication: nil))
      let answer = try #require(URL(string: "example.app://auth?code=secret&state=\(state)"))
      #expect(MSALPublicClientApplication.handleMSALResponse(answer, sourceApplication: nil))
      #expect(try await task.value.account.username == "alice@contoso.test")
      let heard = await hear()
      #expect(heard.first?.name == .MSALWebAuthDidStartLoad)
      #expect(
        heard.dropFirst() == [
          Heard(name: .MSALWebAuthDidFinishLoad, url: "example.app://auth"),
          Heard(name: .MSALWebAuthDidComplete, url: "example.app://auth"),
        ])
    }

    /// All posted notifications. Those of a request are on the main queue when the request ends.
    private func hear() async -> [Heard] {
      let end = heard.continuation
      DispatchQueue.main.async { end.finish() }
      return await heard.stream.reduce(into: []) { $0.append($1) }
    }

    private static func errorNames(in error: NSError?) -> [String: String] {
      let keys: [String] = [MSALCorrelationIDKey, MSALHomeAccountIdKey, MSALDisplayableUserIdKey]
      return keys.reduce(into: [:]) { $0[$1] = error?.userInfo[$1] as? String }
    }

    /// Listens from now on, after pending notifications of earlier sign-ins on the main queue.
    private func observe() async -> [any NSObjectProtocol] {
      DispatchQueue.main.setSpecific(key: Self.key, value: true)
      await withCheckedContinuation { continuation in
        DispatchQueue.main.async { continuation.resume() }
      }
      let heard = heard.continuation
      return Self.names.map { name in
        NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { notification in
          heard.yield(
            Heard(
              name: notification.name, url: (notification.userInfo?["url"] as? URL)?.absoluteString,
              errorCode: (notification.userInfo?["error"] as? NSError)?.code,
              errorNames: Self.errorNames(in: notification.userInfo?["error"] as? NSError),
              isOnMainQueue: DispatchQueue.getSpecific(key: Self.key) == true))
        }
      }
    }
  }
}
