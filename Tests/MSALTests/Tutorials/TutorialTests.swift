import Foundation
@testable import MSAL
import TestSupport

extension ApplicationTests {
  /// Programs like the tutorials of all generations, including their errors.
  struct TutorialTests {
    enum Generation: CaseIterable {
      case of2018, of2019

      func program() -> any TutorialSteps {
        switch self {
        case .of2018: Tutorial2018()
        case .of2019: Tutorial2019()
        }
      }
    }

    let entra = FakeEntra()

    @Test func `The current tutorial signs in and out`() async throws {
      let program = CurrentTutorial()
      var lines = program.screen.stream.makeAsyncIterator()
      program.viewDidLoad()
      #expect(program.applicationContext != nil)
      program.applicationContext = try .test(entra)

      program.callGraphAPI()
      #expect(await lines.next() == "Account signed out, was none")
      #expect(await lines.next() == "Access token acquired")
      #expect(program.accessToken == "made-up-access-token")

      program.accessToken = ""
      program.callGraphAPI()
      // The program asks for the token before it writes the first line, and the two blocks run on different queues.
      let written = Set([await lines.next(), await lines.next()])
      #expect(
        written == [
          "Found a signed in account Optional(\"alice@contoso.test\")", "Refreshed access token",
        ])
      #expect(program.accessToken == "made-up-access-token")

      program.refreshDeviceMode()
      #expect(await lines.next() == "Received device info. Device is in the false mode.")
      program.signOut()
      #expect(await lines.next() == "Sign out completed successfully: true")
      #expect(program.accessToken.isEmpty)
      program.loadCurrentAccount()
      #expect(await lines.next() == "Account signed out, was alice@contoso.test")
      #expect(!program.application(open: URL(string: "msauth.app://auth?code=1")!, sourceApplication: nil))
    }

    @Test func `The current tutorial signs in again when the server requires it`() async throws {
      let program = CurrentTutorial()
      var lines = program.screen.stream.makeAsyncIterator()
      program.viewDidLoad()
      program.applicationContext = try .test(entra)
      program.acquireTokenInteractively()
      #expect(await lines.next() == "Access token acquired")
      entra.refuse("invalid_grant")
      program.acquireTokenSilently(program.currentAccount, forceRefresh: true)
      #expect(await lines.next() == "Interaction required")
      let last = await lines.next() ?? ""
      #expect(last.hasPrefix("Could not acquire token: Error Domain=MSALErrorDomain Code=-50000"), "\(last)")
    }

    @Test func `The current tutorial reports a closed browser`() async throws {
      let program = CurrentTutorial()
      var lines = program.screen.stream.makeAsyncIterator()
      program.viewDidLoad()
      program.applicationContext = try .test(entra)
      entra.closePages()
      program.acquireTokenInteractively()
      let line = await lines.next() ?? ""
      #expect(line.hasPrefix("Could not acquire token: Error Domain=MSALErrorDomain Code=-50005"), "\(line)")
    }

    @available(*, deprecated)
    @Test(arguments: Generation.allCases)
    func `Older programs sign in and out`(_ generation: Generation) async throws {
      let program = generation.program()
      var lines = program.screen.stream.makeAsyncIterator()
      try program.initMSAL()
      let application = try MSALPublicClientApplication.test(entra)
      program.applicationContext = application
      program.acquireTokenInteractively()
      #expect(await lines.next() == "Access token acquired")
      program.acquireTokenSilently()
      #expect(await lines.next() == "Refreshed access token")
      let accounts = await withCheckedContinuation { continuation in
        application.allAccountsFilteredByAuthority { accounts, _ in continuation.resume(returning: accounts) }
      }
      #expect(accounts?.first?.username == "alice@contoso.test")
      let scopes = ["https://graph.microsoft.com/user.read"]
      let token = await withCheckedContinuation { continuation in
        application.acquireTokenSilent(forScopes: scopes, user: accounts?.first) { result, _ in
          continuation.resume(returning: result?.accessToken)
        }
      }
      #expect(token == "made-up-access-token")
      // The cache has the token for both.
      #expect(entra.server.tokenRequests.count == 1)
      program.signOut()
      #expect(await lines.next() == "Signed out")
    }

    @Test(arguments: Generation.allCases)
    func `Older programs get interactionRequired`(_ generation: Generation) async throws {
      let program = generation.program()
      var lines = program.screen.stream.makeAsyncIterator()
      try program.initMSAL()
      let store = InMemoryStore()
      program.applicationContext = try .test(entra, store: store)
      program.acquireTokenInteractively()
      #expect(await lines.next() == "Access token acquired")
      entra.refuse("invalid_grant")
      // The token in the cache counts as expired.
      program.applicationContext = try .test(entra, store: store) { $0.tokenExpirationBuffer = 7200 }
      program.acquireTokenSilently()
      #expect(await lines.next() == "Interaction required")
    }

    @Test func `The program of 2018 is told that no account is signed in`() async throws {
      let program: any TutorialSteps = Tutorial2018()
      var lines = program.screen.stream.makeAsyncIterator()
      try program.initMSAL()
      program.applicationContext = try .test(entra)
      program.acquireTokenSilently()
      #expect(await lines.next() == "Interaction required")
    }

    @Test func `The program of 2019 catches a keyring error`() async throws {
      let program = Tutorial2019()
      var lines = program.screen.stream.makeAsyncIterator()
      program.applicationContext = try .test(entra, store: ScriptedStore.locked)
      program.acquireTokenSilently()
      let line = await lines.next() ?? ""
      #expect(
        line.hasPrefix("Didn't find any accounts in cache: Error Domain=NSOSStatusErrorDomain"), "\(line)")
    }
  }
}
