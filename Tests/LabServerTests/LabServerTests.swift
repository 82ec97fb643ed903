import Foundation
import LabServer
import Llavero
import Testing

/// With the two imports of a package of a reader's own, and nothing that only this package sees.
@Suite(.timeLimit(.minutes(10))) struct LabServerTests {
  /// Runs `body` with a lab, and ends it whether or not that throws.
  private func withLab(_ body: (LabServer) async throws -> Void) async throws {
    let lab = try await LabServer.start()
    do {
      try await body(lab)
      await lab.stop()
    } catch {
      await lab.stop()
      throw error
    }
  }

  @Test func `A user signs in without a browser, and another client gets the token from the private keyring`()
    async throws
  {
    try await withLab { lab in
      let signedIn = try await lab.client(signingInAs: "alice").acquireToken(
        InteractiveRequest(scopes: ["User.Read"]))
      #expect(signedIn.account.username == "alice@contoso.test")
      let requests = lab.tokenRequestCount

      let other = lab.client()
      let account = try #require(try await other.accounts().first)
      let found = try await other.acquireTokenSilent(SilentRequest(scopes: ["User.Read"], account: account))
      #expect(found.accessToken == signedIn.accessToken)
      #expect(lab.tokenRequestCount == requests)
    }
  }

  @Test func `A token comes from the cache, else by a renewal, else by a sign-in`() async throws {
    try await withLab { lab in
      let client = lab.client(signingInAs: "alice")
      let signedIn = try await client.token(for: ["User.Read"])
      #expect(signedIn.account.username == "alice@contoso.test")
      let requests = lab.tokenRequestCount
      // Without a browser, these can only be silent.
      let other = lab.client()
      #expect(try await other.token(for: ["User.Read"]).accessToken == signedIn.accessToken)
      #expect(lab.tokenRequestCount == requests)
      #expect(try await other.token(for: ["Mail.Read"]).source == .network)

      for interrupt in [{ try lab.revokeSessions(of: "alice") }, { try lab.requireMFA(of: "alice") }] {
        try interrupt()
        let scopes = ["Calendars.Read"]
        let refusal = await #expect(throws: IdentityError.self) { try await other.token(for: scopes) }
        #expect(refusal?.code == .noAuthenticator)
        #expect(try await client.token(for: scopes).account.username == "alice@contoso.test")
        try await client.remove(signedIn.account)
        _ = try await client.token(for: ["User.Read"])
      }
    }
  }

  @Test func `Among several accounts the program chooses, and no other account can sign in for it`()
    async throws
  {
    try await withLab { lab in
      for user in ["alice", "bob"] {
        _ = try await lab.client(signingInAs: user).acquireToken(
          InteractiveRequest(scopes: ["User.Read"], prompt: .selectAccount))
      }
      let client = lab.client(signingInAs: "alice")
      let refusal = await #expect(throws: IdentityError.self) { try await client.token(for: ["User.Read"]) }
      #expect(refusal?.code == .ambiguousAccount)
      let accounts = try await client.accounts()
      #expect(accounts.count == 2)
      for account in accounts {
        let result = try await client.token(for: ["User.Read"], account: account)
        #expect(result.account.username == account.username && result.source == .cache)
      }
      try lab.revokeSessions(of: "bob")
      let bob = try #require(accounts.first { $0.username == "bob@contoso.test" })
      let mismatch = await #expect(throws: IdentityError.self) {
        try await client.token(for: ["Mail.Read"], account: bob)
      }
      #expect(mismatch?.code == .mismatchedUser)
    }
  }

  @Test func `Where there is no browser a code is shown, if the program shows codes`() async throws {
    try await withLab { lab in
      let browsers: [(any WebAuthenticator)?] = [
        nil, BrowserAuthenticator(browser: SystemBrowser(environment: [:])),
      ]
      for browser in browsers {
        let client = PublicClient(
          configuration: lab.configuration, cache: TokenCacheAccessor(store: lab.store),
          transport: lab.transport, authenticator: browser)
        let refusal = await #expect(throws: IdentityError.self) { try await client.token(for: ["User.Read"]) }
        #expect(refusal?.code == (browser == nil ? .noAuthenticator : .browserUnavailable))
        let result = try await client.token(for: ["User.Read"]) { _ in
          do { try lab.approveDeviceCode(as: "carol") } catch { Issue.record(error) }
        }
        #expect(result.source == .network)
        try await client.remove(result.account)
      }
    }
  }

  @Test func `A client with the defaults takes the authority at its word, and needs an ID`() async throws {
    try await withLab { lab in
      let client = try PublicClient(
        clientID: LabServer.clientID, authority: lab.configuration.authority,
        cache: TokenCacheAccessor(store: lab.store), transport: lab.transport,
        authenticator: lab.browser(signingInAs: "alice"), broker: nil)
      #expect(try await client.token(for: ["User.Read"]).account.username == "alice@contoso.test")
      let error = #expect(throws: IdentityError.self) { try PublicClient(clientID: "") }
      #expect(error?.code == .invalidParameter)
    }
  }

  @Test func `A sign-in that must ask the user again is answered, too`() async throws {
    try await withLab { lab in
      let client = lab.client(signingInAs: "bob")
      for prompt in [Prompt.selectAccount, .login] {
        let result = try await client.acquireToken(InteractiveRequest(scopes: ["User.Read"], prompt: prompt))
        #expect(result.account.username == "bob@contoso.test")
      }
    }
  }

  @Test func `An unknown user is an error that names the users of the lab`() async throws {
    try await withLab { lab in
      let client = lab.client(signingInAs: "mallory")
      let error = try await #require(throws: IdentityError.self) {
        try await client.acquireToken(InteractiveRequest(scopes: ["User.Read"]))
      }
      #expect(error.advice?.contains("alice, bob and carol") == true)
    }
  }

  @Test func `A device code is approved by the test, and Graph answers with the token`() async throws {
    try await withLab { lab in
      let client = lab.client()
      let result = try await client.acquireToken(
        DeviceCodeRequest(scopes: ["User.Read"]) { _ in
          do { try lab.approveDeviceCode(as: "carol") } catch { Issue.record(error) }
        })
      let graph = GraphClient(transport: lab.transport, cloud: try GraphCloud(baseURL: lab.graphURL)) {
        (_) throws(IdentityError) in result
      }
      #expect(try await graph.me().displayName == "Carol Clark")
    }
  }

  @Test func `A revoked session and a second factor each need a new sign-in`() async throws {
    try await withLab { lab in
      let client = lab.client(signingInAs: "alice")
      for interrupt in [{ try lab.revokeSessions(of: "alice") }, { try lab.requireMFA(of: "alice") }] {
        let account = try await client.acquireToken(InteractiveRequest(scopes: ["User.Read"])).account
        try interrupt()
        let request = SilentRequest(scopes: ["User.Read"], account: account, forceRefresh: true)
        let error = try await #require(throws: IdentityError.self) {
          try await client.acquireTokenSilent(request)
        }
        #expect(error.code == .interactionRequired)
      }
    }
  }

  @Test func `A server that fails is an error of the server`() async throws {
    try await withLab { lab in
      let client = lab.client(signingInAs: "alice")
      lab.failTokenRequests(2, status: 500)
      let error = try await #require(throws: IdentityError.self) {
        try await client.acquireToken(InteractiveRequest(scopes: ["User.Read"]))
      }
      #expect(error.code == .serverError)
    }
  }

  @Test func `A test sets lifetimes, fails requests to Graph and demands claims`() async throws {
    try await withLab { lab in
      lab.setLifetimes(accessToken: 600)
      let client = lab.client(signingInAs: "alice")
      let scopes = ["User.Read", "Mail.Read"]
      // The lab evaluates its token continuously, and lets it last longer.
      let capable = try ClaimsRequest(json: #"{"access_token":{"xms_cc":{"values":["cp1"]}}}"#)
      let evaluated = try await client.acquireToken(InteractiveRequest(scopes: scopes, claims: capable))
      let signedIn = try await client.acquireToken(InteractiveRequest(scopes: scopes))
      for result in [evaluated, signedIn] {
        #expect(try #require(result.expiresOn).timeIntervalSinceNow <= 600)
      }
      let graph = GraphClient(
        transport: lab.transport, cloud: try GraphCloud(baseURL: lab.graphURL),
        retries: GraphRetryPolicy(maximumTries: 1)
      ) { claims throws(IdentityError) in
        try await client.acquireTokenSilent(
          SilentRequest(scopes: scopes, account: signedIn.account, claims: claims))
      }
      var sizes: [Int] = []
      for try await page in graph.pages(of: "/me/messages") { sizes.append(page.items.count) }
      #expect(sizes == [10, 10, 5])

      lab.failGraphRequests(status: 429, headers: ["Retry-After": "7"], body: #"{"error":{"code":"slow"}}"#)
      let error = try await #require(throws: GraphError.self) { try await graph.me() }
      #expect(error.graphCode == "slow" && error.retryAfter == .seconds(7))

      let requests = lab.tokenRequestCount
      try lab.demandClaims(ClaimsRequest(json: #"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"#))
      #expect(try await graph.me().displayName == "Alice Álvarez")
      #expect(lab.tokenRequestCount == requests + 1)
      try lab.demandClaims(ClaimsRequest())
      #expect(try await graph.me().displayName == "Alice Álvarez")

      lab.setLifetimes(refreshToken: 0)
      let account = try await client.acquireToken(InteractiveRequest(scopes: scopes)).account
      var renewal = SilentRequest(scopes: scopes, account: account)
      renewal.forceRefresh = true
      let refusal = await #expect(throws: IdentityError.self) { try await client.acquireTokenSilent(renewal) }
      #expect(refusal?.code == .interactionRequired)
    }
  }

  @Test func `Stopping removes the files and closes the port`() async throws {
    let lab = try await LabServer.start()
    let home = try #require(lab.environment["HOME"])
    #expect(FileManager.default.fileExists(atPath: lab.caBundle))
    await lab.stop()
    #expect(!FileManager.default.fileExists(atPath: home))
    let error = try await #require(throws: IdentityError.self) {
      try await lab.client(signingInAs: "alice").acquireToken(InteractiveRequest(scopes: ["User.Read"]))
    }
    #expect(error.code == .network)
  }

  @Test func `The environment for programs has the lab and the private bus, and nothing of the test's own`()
    async throws
  {
    try await withLab { lab in
      #expect(lab.environment["LLAVERO_AUTHORITY"] == lab.configuration.authority.url.absoluteString)
      #expect(lab.environment["LLAVERO_CA_BUNDLE"] == lab.caBundle)
      #expect(
        lab.environment["DBUS_SESSION_BUS_ADDRESS"]
          != ProcessInfo.processInfo.environment["DBUS_SESSION_BUS_ADDRESS"])
      #expect(lab.environment["HOME"] != ProcessInfo.processInfo.environment["HOME"])
    }
  }
}
