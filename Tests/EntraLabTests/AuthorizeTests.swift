import LabSupport

@Suite(.lab) struct AuthorizeTests {
  private let lab = Lab.current

  @Test func `All three response modes work`() async throws {
    let query = try await lab.authorize()
    #expect(query.status == 302)
    #expect(query.headers["location"]?.hasPrefix("http://localhost:50000/?") == true)
    #expect(query.redirect["state"] == "st")
    #expect(Set(query.redirect.keys) == ["client_info", "code", "session_state", "state"])
    let aware = try await lab.authorize(["instance_aware": "true"]).redirect
    #expect(aware.values.filter { "https://" + $0 == lab.baseURL }.count == 3)

    let fragment = try await lab.authorize(["response_mode": "fragment", "state": "ä&"])
    #expect(fragment.headers["location"]?.hasPrefix("http://localhost:50000/#") == true)
    #expect(fragment.headers["location"]?.hasSuffix("&state=%C3%A4%26") == true)

    let form = try await lab.authorize(["response_mode": "form_post", "state": "\"><b>"])
    #expect(form.status == 200)
    #expect(form.body.contains(#"name="hiddenform" action="http://localhost:50000""#))
    #expect(form.body.contains("<noscript>"))
    #expect(form.body.contains(#"name="state" value="&quot;&gt;&lt;b&gt;""#))
  }

  @Test(arguments: [
    ("http://localhost:1/", true), ("http://localhost", true), ("http://127.0.0.1:9", true),
    ("http://localhost:1/path", false), ("http://localhost:x", false), ("http://localhost:", false),
    ("http://localhost:1:2", false), ("http://localhost:1@evil.example", false),
    ("https://localhost:1", false), ("http://[::1]:5", false), ("http://localhost.evil.example", false),
    ("http://localhost:1#f", false), ("http://localhost:1?q=1", false),
  ])
  func `A loopback redirect URI may have any port and nothing else`(uri: String, isRegistered: Bool)
    async throws
  {
    let answer = try await lab.authorize(["redirect_uri": uri])
    #expect((answer.status == 302) == isRegistered)
    if isRegistered {
      #expect(answer.headers["location"]?.hasPrefix(uri + (uri.hasSuffix("/") ? "?" : "/?")) == true)
    } else {
      #expect(answer.body.contains("AADSTS50011"))
      #expect(answer.headers["location"] == nil)
    }
  }

  @Test func `An unknown app gets an error page only`() async throws {
    let answer = try await lab.authorize(["client_id": "c0000000-0000-4000-8000-00000000dead"])
    #expect(answer.status == 400)
    #expect(answer.body.contains("AADSTS700016"))
    let single = ["client_id": "c0000000-0000-4000-8000-000000000051"]
    #expect(try await lab.authorize(single).body.contains("AADSTS50194"))
    #expect(try await lab.authorize(tenant: "fabrikam.test", single).body.contains("AADSTS700016"))
  }

  @Test(arguments: [
    (["prompt": "none"], "login_required AADSTS50058"),
    (["response_type": "token"], "unsupported_response_type AADSTS700054"),
    (["scope": ""], "invalid_request AADSTS900144"),
    (["code_challenge": "short"], "invalid_request AADSTS501491"),
    (["prompt": "select_account"], "invalid_request AADSTS90023"),
    (["prompt": "nonsense"], "invalid_request AADSTS90023"),
    (["claims": "{"], "invalid_request AADSTS9002313"),
    (["scope": "no_such"], "invalid_client AADSTS650053"),
  ])
  func `An error of a request is sent to the redirect URI`(
    changes: [String: String], error: String
  ) async throws {
    let answer = try await lab.authorize(changes)
    #expect(answer.refusal == error)
    #expect(answer.redirect["state"] == "st")
  }

  /// Selects a user on the page, whose cookie goes to a file, and returns the page's number.
  private func chooseOnPage(_ user: String, _ jar: String) async throws -> (id: String, answer: Answer) {
    let page = try await lab.authorize(["login_hint": ""])
    #expect(page.status == 200)
    #expect(page.body.contains("bob@contoso.test"))
    let id = try #require(
      page.body.split(separator: #"name="ctx" value=""#).last?.split(separator: "\"").first.map(String.init))
    let unknown = try await lab.curl("/common/login", form: [("ctx", id), ("user", "mallory")])
    #expect(unknown.body.contains("AADSTS50034: The user account does not exist."))
    return (id, try await lab.curl("/common/login", form: [("ctx", id), ("user", user)], ["-c", jar]))
  }

  /// A request without a page, from the browser with these cookies.
  private func silently(
    _ jar: String, tenant: String = "common", _ changes: [String: String] = [:]
  ) async throws -> Answer {
    let standard = ["prompt": "none", "login_hint": "", "scope": "User.Read"]
    return try await lab.authorize(tenant: tenant, standard.merging(changes) { $1 }, ["-b", jar])
  }

  @Test func `A user chooses an account on the page, and the browser remembers it`() async throws {
    let files = try TemporaryDirectory()
    let jar = files.path + "/cookies"
    let (id, answer) = try await chooseOnPage("bob", jar)
    let code = try #require(answer.redirect["code"])
    let claims = try await lab.redeem(code).claims(of: "id_token")
    #expect(claims["preferred_username"] == "bob@contoso.test")

    let again = try await lab.curl("/common/login", form: [("ctx", id), ("user", "bob")])
    #expect(again.status == 400)

    #expect(try await silently(jar).redirect["code"] != nil)
    #expect(try await silently(jar, ["prompt": ""]).redirect["code"] != nil)
    let other = try await silently(jar, ["login_hint": "other@contoso.test"])
    #expect(other.redirect["error"] == "login_required")
    try lab.requireMFA(of: "bob", scopes: ["Mail.Read"])
    #expect(try await silently(jar).redirect["code"] != nil)
    #expect(try await silently(jar, ["scope": "Mail.Read"]).refusal == "interaction_required AADSTS50076")
    let consent = try await silently(jar, ["scope": "Files.ReadWrite.All"])
    #expect(consent.refusal == "consent_required AADSTS65001")
    _ = try await chooseOnPage("bob", jar)
    #expect(try await silently(jar, ["scope": "Mail.Read"]).redirect["code"] != nil)
  }

  @Test func `The page offers the accounts of a domain, and an account's ids sign in at once`() async throws {
    let work = ["alice", "bob"]
    for (hint, users) in ["consumers": ["carol"], "organizations": work, "contoso.test": work] {
      let page = try await lab.authorize(["login_hint": "", "domain_hint": hint])
      #expect(page.body.matches(of: /name="user" value="(\w+)"/).map { String($0.1) } == users)
    }
    let bob = try #require(lab.directory.user("bob"))
    let ids = ["login_hint": "", "login_req": bob.objectID, "domain_req": bob.homeTenant]
    let code = try #require(try await lab.authorize(ids).redirect["code"])
    #expect(try await lab.redeem(code).claims(of: "id_token")["name"] == "Bob Brown")
  }

  @Test func `With prompt=none, an account of another tenant gets an error and no page`() async throws {
    let files = try TemporaryDirectory()
    let jar = files.path + "/cookies"
    _ = try await chooseOnPage("carol", jar)
    let answer = try await silently(jar, tenant: "organizations")
    #expect(answer.refusal == "interaction_required AADSTS50020")
  }

  @Test func `A sign-out ends the session of its browser`() async throws {
    let files = try TemporaryDirectory()
    let (bob, alice) = (files.path + "/bob", files.path + "/alice")
    _ = try await chooseOnPage("bob", bob)
    _ = try await chooseOnPage("alice", alice)
    _ = try await lab.curl("/common/oauth2/v2.0/logout")
    _ = try await lab.curl("/common/oauth2/v2.0/logout", ["-b", alice])
    #expect(try await silently(bob).redirect["code"] != nil)
    #expect(try await silently(alice).redirect["error"] == "login_required")
  }

  @Test func `A test can set the endpoint's response`() async throws {
    lab.configure { $0.authorize = .deny }
    let denied = try await lab.authorize()
    #expect(denied.redirect["error"] == "access_denied")
    #expect(denied.redirect["error_subcode"] == "cancel")
    let policy = try await lab.authorize(tenant: "contoso.onmicrosoft.com/b2c_1_up")
    #expect(policy.redirect["error_description"]?.hasPrefix("AADB2C90091") == true)
    lab.configure { $0.authorize = .error(code: "server_error", description: "<script>\u{1b}[31m") }
    #expect(try await lab.authorize().redirect["error_description"] == "<script>\u{1b}[31m")
    lab.configure { $0.authorize = .user(name: "bob") }
    #expect(try await lab.authorize(["login_hint": ""]).redirect["code"] != nil)
    lab.configure { $0.authorizeResponse = ["state": "other", "iss": "https://evil.example"] }
    let altered = try await lab.authorize()
    #expect(altered.redirect["state"] == "other")
    #expect(altered.redirect["iss"] == "https://evil.example")
    lab.configure { $0.authorize = .page }
    #expect(try await lab.authorize().status == 200)
  }

  @Test func `A personal account cannot sign in at organizations, nor a foreign one to a tenant`()
    async throws
  {
    let carol = try await lab.authorize(tenant: "organizations", ["login_hint": "carol@outlook.test"])
    #expect(carol.body.contains("AADSTS50020"))
    let bob = try await lab.authorize(tenant: "fabrikam.test", ["login_hint": "bob@contoso.test"])
    #expect(bob.body.contains("AADSTS50020"))
    #expect(try await lab.authorize(tenant: "fabrikam.test").redirect["code"] != nil)
  }

  @Test func `Sign-out redirects to a registered URI only`() async throws {
    let uri = "/common/oauth2/v2.0/logout?state=s&post_logout_redirect_uri="
    let back = try await lab.curl(uri + "http%3A%2F%2Flocalhost%3A7")
    #expect(back.headers["location"] == "http://localhost:7?state=s")
    let foreign = try await lab.curl(uri + "https%3A%2F%2Fevil.example")
    #expect(foreign.status == 200)
  }
}
