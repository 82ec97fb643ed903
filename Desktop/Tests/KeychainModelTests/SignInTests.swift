import FoundationEssentials
import IdentityClient
import LabServer
import TokenCache
import Testing

@testable import KeychainModel

/// Sign-ins at the lab, with the browser that the settings name.
@Suite(.timeLimit(.minutes(5)))
struct SignInTests {
  static let alice = "alice@contoso.test"
  let store = InMemoryStore()
  let group = KeychainGroup.default

  private func withLab(_ body: (LabServer) async throws -> Void) async throws {
    let lab = try await LabServer.start()
    do {
      try await body(lab)
    } catch {
      await lab.stop()
      throw error
    }
    await lab.stop()
  }

  private func keychain(_ lab: LabServer, _ settings: [String: String] = [:]) -> Keychain {
    let browser = URL(filePath: #filePath).appending(path: "../../../../Tests/interop/browser.py")
      .standardized
    let command = "env LAB_CA_BUNDLE=\(lab.caBundle) BROWSER_USER=alice python3 \(browser.path)"
    let own = ["BROWSER": command, "LLAVERO_BROKER": "off", "PATH": "/usr/bin:/bin"]
    return Keychain(
      environment: lab.environment.merging(own) { $1 }.merging(settings) { $1 }, store: store)
  }

  private func account(in keychain: Keychain) async throws -> AccountEntry {
    try #require(try await keychain.listing(of: group).accounts.first)
  }

  @Test func `A browser signs an account in, into the group that is named`() async throws {
    try await withLab { lab in
      let keychain = keychain(lab)
      let other = try KeychainGroup("org.example.other")
      let pages = Steps()
      let signedIn = try await keychain.signIn(SignInRequest(), by: .browser, into: other) {
        await pages.add($0)
      }
      #expect(signedIn.name == Self.alice)
      #expect(await pages.descriptions == ["page"])
      #expect(try await keychain.listing(of: group).accounts.isEmpty)
      let account = try #require(try await keychain.listing(of: other).accounts.first)
      #expect((account.id, account.title) == (signedIn.id, Self.alice))
      #expect(account.tokens.contains { $0.isRenewable && $0.permissions == ["User.Read"] })
      #expect(account.requiredSignIn(at: Date()) == nil)
    }
  }

  @Test func `A code signs an account in with the client that the person enters`() async throws {
    try await withLab { lab in
      let keychain = keychain(lab, ["LLAVERO_CLIENT_ID": ""])
      #expect(keychain.clientID == nil)
      var request = SignInRequest()
      let nameless = await #expect(throws: Trouble.self) {
        try await keychain.signIn(request, by: .deviceCode, into: group) { _ in }
      }
      #expect(nameless?.message == "Invalid client ID: expected a value.")
      request.clientID = " \(LabServer.clientID) "
      let codes = Steps()
      _ = try await keychain.signIn(request, by: .deviceCode, into: group) { step in
        await codes.add(step)
        try? lab.approveDeviceCode(as: "alice")
      }
      #expect(await codes.descriptions == ["code"])
      #expect(try await account(in: keychain).clientIDs == [LabServer.clientID])
      #expect(try await keychain.listing(of: group).ownClientID == LabServer.clientID)
    }
  }

  @Test(arguments: [SignInMethod.browser, .deviceCode])
  func `A sign-in that is cancelled ends at once, without a warning`(_ method: SignInMethod) async throws {
    try await withLab { lab in
      let keychain = keychain(lab, ["BROWSER": "true"])
      // The first step shows that the sign-in waits.
      let (steps, began) = AsyncStream.makeStream(of: Void.self)
      let signIn = Task {
        try await keychain.signIn(SignInRequest(), by: method, into: group) { _ in began.yield() }
      }
      for await _ in steps { break }
      signIn.cancel()
      let trouble = await #expect(throws: Trouble.self) { try await signIn.value }
      #expect(trouble?.isCancellation == true)
      let accounts = try await keychain.listing(of: group).accounts
      #expect(accounts.isEmpty)
    }
  }

  @Test func `A refused renewal marks token and account until a sign-in`() async throws {
    try await withLab { lab in
      let keychain = keychain(lab)
      _ = try await keychain.signIn(SignInRequest(), by: .browser, into: group) { _ in }
      let token = try #require(try await account(in: keychain).tokens.first { $0.isRenewable })
      try lab.requireMFA(of: "alice")
      let trouble = await #expect(throws: Trouble.self) { try await keychain.renew(token, in: group) }
      #expect(trouble?.title == "A New Sign-In Is Needed")
      let marked = try await account(in: keychain)
      let refused = try #require(marked.tokens.first)
      #expect(!refused.isRenewable)
      #expect(refused.renewal(at: Date()) == "Needs a new sign-in")
      let request = try #require(marked.requiredSignIn(at: Date()))
      #expect(trouble?.help == .signIn(request))
      #expect((request.app, request.accountName) == (LabServer.clientID, Self.alice))

      _ = try await keychain.signIn(request, by: .browser, into: group) { _ in }
      let mended = try await account(in: keychain)
      #expect(mended.requiredSignIn(at: Date()) == nil)
      #expect(mended.tokens.first?.renewal(at: Date()) == "Can be renewed")
    }
  }

  @Test func `A refresh token that the server revoked marks the account`() async throws {
    try await withLab { lab in
      let keychain = keychain(lab)
      _ = try await keychain.signIn(SignInRequest(), by: .browser, into: group) { _ in }
      try lab.revokeSessions(of: "alice")
      let token = try #require(try await account(in: keychain).tokens.first { $0.isRenewable })
      await #expect(throws: Trouble.self) { try await keychain.renew(token, in: group) }
      #expect(try await account(in: keychain).requiredSignIn(at: Date()) != nil)
    }
  }

  @Test func `Another account than the one that has to sign in is refused, and not stored`() async throws {
    try await withLab { lab in
      let keychain = keychain(lab)
      _ = try await keychain.signIn(SignInRequest(), by: .browser, into: group) { _ in }
      let alice = try await account(in: keychain)
      try lab.revokeSessions(of: "alice")
      let trouble = await #expect(throws: Trouble.self) {
        try await keychain.signIn(alice.signIn, by: .deviceCode, into: group) { _ in
          try? lab.approveDeviceCode(as: "bob")
        }
      }
      #expect(trouble?.title == "The Request Failed")
      #expect(try await keychain.listing(of: group).accounts.map(\.id) == [alice.id])
    }
  }

  @Test func `An account needs a sign-in when nothing of it serves any more`() async throws {
    let sample = SampleGroup()
    try await sample.fill()
    var accounts = try await sample.listing().accounts
    #expect(accounts.map { $0.requiredSignIn(at: sample.now) } == [nil, nil])
    try await sample.keychain().remove(
      try #require(accounts[0].tokens.first { $0.id.section == .refreshToken }), in: sample.group)
    accounts = try await sample.listing().accounts
    #expect(accounts[0].requiredSignIn(at: sample.now + 2900) == nil)
    #expect(accounts[0].requiredSignIn(at: sample.now + 3001)?.clientID == SampleGroup.files)
  }
}

/// What a sign-in waited for.
private actor Steps {
  private(set) var descriptions: [String] = []

  func add(_ step: SignInStep) {
    switch step {
    case .page: descriptions.append("page")
    case .code: descriptions.append("code")
    }
  }
}
