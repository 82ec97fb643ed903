import Foundation
@testable import MSAL
import Testing

extension ApplicationTests {
  /// What a program hears of the browser by `NotificationCenter`.
  struct NotificationTests {
    private struct Heard: Sendable, Equatable {
      var name: Notification.Name
      var url: String?
      var errorCode: Int?
      var isOnMainQueue = true
    }

    private static let names: [Notification.Name] = [
      .MSALWebAuthDidStartLoad, .MSALWebAuthDidFinishLoad, .MSALWebAuthDidFail, .MSALWebAuthDidComplete,
    ]

    private static let key = DispatchSpecificKey<Bool>()

    let entra = FakeEntra()
    private let heard = AsyncStream<Heard>.makeStream()

    @Test func `Names are those of Apple's systems`() {
      #expect(
        Self.names.map(\.rawValue) == [
          "MSALWebAuthDidStartLoadNotification", "MSALWebAuthDidFinishLoadNotification",
          "MSALWebAuthDidFailNotification", "MSALWebAuthDidCompleteNotification",
        ])
    }

    @Test func `A sign-in starts, finishes and completes`() async throws {
      let tokens = await observe()
      defer { tokens.forEach(NotificationCenter.default.removeObserver) }
      _ = try await MSALPublicClientApplication.test(entra).signIn()
      let page = "https://login.microsoftonline.com/common/oauth2/v2.0/authorize"
      let redirect = "http://localhost:8080"
      #expect(
        await hear(3) == [
          Heard(name: .MSALWebAuthDidStartLoad, url: page),
          Heard(name: .MSALWebAuthDidFinishLoad, url: redirect),
          Heard(name: .MSALWebAuthDidComplete, url: redirect),
        ])
    }

    @Test func `A browser that is closed fails, and a silent request says nothing`() async throws {
      let application = try MSALPublicClientApplication.test(entra)
      let account = try await application.signIn().account
      let tokens = await observe()
      defer { tokens.forEach(NotificationCenter.default.removeObserver) }
      let parameters = MSALSilentTokenParameters(scopes: ["user.read"], account: account)
      try await application.acquireTokenSilent(with: parameters)
      entra.mood = .closed
      await #expect(throws: NSError.self) { try await application.signIn() }
      let heard = await hear(2)
      #expect(heard.first?.name == .MSALWebAuthDidStartLoad)
      #expect(
        heard.last == Heard(name: .MSALWebAuthDidFail, errorCode: MSALError.userCanceled.rawValue))
    }

    @Test func `An answer to a scheme of the program's own completes, too`() async throws {
      entra.mood = .silent
      let application = try MSALPublicClientApplication.test(entra) { $0.redirectUri = "example.app://auth" }
      let tokens = await observe()
      defer { tokens.forEach(NotificationCenter.default.removeObserver) }
      let task = Task { try await application.signIn() }
      let items = URLComponents(url: try await entra.nextPage(), resolvingAgainstBaseURL: true)?.queryItems
      let state = try #require(items?.first { $0.name == "state" }?.value)
      let answer = try #require(URL(string: "example.app://auth?code=secret&state=\(state)"))
      #expect(MSALPublicClientApplication.handleMSALResponse(answer, sourceApplication: nil))
      _ = try await task.value
      let heard = await hear(3)
      #expect(heard.first?.name == .MSALWebAuthDidStartLoad)
      #expect(
        heard.dropFirst() == [
          Heard(name: .MSALWebAuthDidFinishLoad, url: "example.app://auth"),
          Heard(name: .MSALWebAuthDidComplete, url: "example.app://auth"),
        ])
    }

    /// Waits for so many.
    private func hear(_ count: Int) async -> [Heard] {
      var all: [Heard] = []
      for await one in heard.stream {
        all.append(one)
        if all.count == count { break }
      }
      return all
    }

    /// Listens from now on; what the main queue still has to tell of earlier sign-ins comes first.
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
              isOnMainQueue: DispatchQueue.getSpecific(key: Self.key) == true))
        }
      }
    }
  }
}
