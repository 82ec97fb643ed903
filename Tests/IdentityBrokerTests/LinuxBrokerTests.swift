import Foundation
import TestSupport

@testable import IdentityBroker

/// The client on a private bus, with a stand-in for the broker in each of its kinds.
@Suite(.timeLimit(.minutes(20)))
struct LinuxBrokerTests {
  private static let client = "d7b530a4-7680-4c23-a8bf-c52c121d2e87"
  private let id = UUID()

  private func client(
    _ broker: StandInBroker, limit: Duration = .seconds(600), ignoresRecentFailure: Bool = false,
    directory: String? = nil, now: @escaping @Sendable () -> Date = { Date() }
  ) -> LinuxBroker {
    LinuxBroker(
      busAddress: broker.keyring.busAddress, limit: limit, ignoresRecentFailure: ignoresRecentFailure,
      directory: directory ?? broker.keyring.directory + "/run/llavero", now: now)
  }

  private func request(_ account: Account?) throws -> BrokerRequest {
    let url = try #require(URL(string: "https://login.microsoftonline.com/common"))
    return BrokerRequest(
      clientID: Self.client, authority: try Authority(url: url),
      scopes: ["https://graph.microsoft.com/User.Read"], account: account, correlationID: id)
  }

  private func accounts(_ broker: LinuxBroker) async throws -> [Account] {
    try await broker.accounts(clientID: Self.client, correlationID: id)
  }

  @Test(arguments: StandInBroker.Kind.allCases)
  func `Every kind of broker gives version, accounts and a token`(kind: StandInBroker.Kind) async throws {
    let start = Date()
    let broker = try StandInBroker(kind)
    let client = client(broker)
    #expect(try await client.presence() == .running)
    #expect(try await ["2.0.1", "3.0.2", "3.1.9", "4.0.0"].contains(client.version(correlationID: id)))
    let account = try #require(await accounts(client).first)
    #expect(account.username == "alice@contoso.test")
    let token = try await client.tokenSilently(request(account))
    // As the token says, whatever the broker does.
    #expect((start + 4241...Date() + 4242).contains(token.expiresOn))
    #expect(token.account?.homeAccountID == account.homeAccountID)
    #expect(token.grantedScopes?.contains("User.Read") == true)
    #expect(token.idToken != nil)
    // One id for whatever a call asks, and nothing but what the reference has.
    let calls = try broker.calls()
    #expect(
      calls.map(\.method) == ["getLinuxBrokerVersion", "getAccounts", "getAccounts", "acquireTokenSilently"])
    #expect(calls.allSatisfy { $0.version == "0.0" && $0.id == id.uuidString.lowercased() })
    let connection = BrokerConnection(busAddress: broker.keyring.busAddress, limit: .seconds(600))
    #expect(try connection.bus() === connection.bus())
  }

  @Test(arguments: StandInBroker.Kind.allCases)
  func `Without a joined account the list is empty or fails`(kind: StandInBroker.Kind) async throws {
    let broker = try StandInBroker(kind, orders: #"{"accounts":[]}"#)
    defer { broker.kill() }
    let client = client(broker)
    if kind == .himmelblau3 {
      await expectError(.brokerFailed) { try await accounts(client) }
    } else {
      #expect(try await accounts(client).isEmpty)
    }
  }

  @Test func `Of several accounts the token is of the one that was asked for`() async throws {
    let bob = StandInBroker.account("Bob", uid: "b0b00000-0000-4000-8000-000000000001")
    let broker = try StandInBroker(.native, orders: #"{"accounts":[\#(StandInBroker.account()),\#(bob)]}"#)
    defer { broker.kill() }
    let client = client(broker)
    let accounts = try await accounts(client)
    #expect(accounts.count == 2)
    for account in accounts {
      #expect(
        try await client.tokenSilently(request(account)).account?.homeAccountID == account.homeAccountID)
    }
  }

  @Test func `A token that is not good for long enough is asked to be replaced`() async throws {
    func token(for seconds: Double) -> String {
      let payload = #"{"exp":\#(Int(Date().timeIntervalSince1970 + seconds))}"#
      return "e30." + Data(payload.utf8).base64URL + "."
    }
    let (short, long) = (token(for: 200), token(for: 900))
    let broker = try StandInBroker(.native, orders: #"{"token":"\#(short)"}"#)
    defer { broker.kill() }
    let client = client(broker)
    let account = try #require(await accounts(client).first)
    var request = try request(account)
    request.minimumValidity = 300
    // A broker that has no other gives this one again.
    #expect(try await client.tokenSilently(request).accessToken == short)
    let calls = try broker.calls().filter { $0.method == "acquireTokenSilently" }
    let replaced = calls.map { $0.body["authParameters"]?.objectValue?["accessTokenToRenew"]?.stringValue }
    #expect(replaced == ["", short] || replaced == [nil, short], "\(replaced)")
    try broker.order(#"{"token":"\#(long)"}"#)
    #expect(try await client.tokenSilently(request).accessToken == long)
    #expect(try broker.calls().count == calls.count + 2 + 2)
    try broker.order(#"{"token":"\#(short)","do":{"renew":"no-network"}}"#)
    let kept = try await client.tokenSilently(request)
    #expect(kept.accessToken == short)
    // One that is good for exactly that long is not.
    let count = try broker.calls().count
    let exact = self.client(broker) { kept.expiresOn - 300 }
    #expect(try await exact.tokenSilently(request).accessToken == short)
    #expect(try broker.calls().count == count + 2)
  }

  @Test(
    .fault("bad answer"),
    arguments: [
      ("interaction", .interactionRequired), ("expired", .interactionRequired), ("no-network", .network),
      ("busy", .network), ("cancelled", .userCanceled), ("refused", .authorizationFailed),
      ("unusable", .interactionRequired), ("unexpected", .brokerFailed), ("empty", .brokerFailed),
      ("malformed", .brokerFailed), ("wrong-json", .brokerFailed), ("wrong-type", .brokerFailed),
      ("large", .brokerFailed), ("die", .brokerFailed), ("dbus:broker socket connect: eyJ", .brokerFailed),
    ] as [(String, IdentityError.Code)])
  func `Each failure of a call has its own error`(misdeed: String, code: IdentityError.Code) async throws {
    let broker = try StandInBroker(.native)
    defer { broker.kill() }
    let client = client(broker)
    let account = try #require(await accounts(client).first)
    try broker.order(#"{"do":{"acquireTokenSilently":"\#(misdeed)"}}"#)
    let error = await #expect(throws: IdentityError.self) { try await client.tokenSilently(request(account)) }
    #expect(error?.code == code, "\(error?.message ?? "")")
    #expect(error?.message.contains("eyJh") == false)
  }

  @Test(.fault("hangs"), arguments: ["never", "empty"])
  func `A broker that hangs costs its timeout once, until it restarts`(misdeed: String) async throws {
    let broker = try StandInBroker(.native, orders: #"{"do":{"*":"\#(misdeed)"}}"#)
    // The time is for the broker to be found silent; nothing depends on how long that takes.
    let first = await expectError(.brokerFailed) {
      try await accounts(client(broker, limit: .milliseconds(200)))
    }
    #expect(first?.isThrottled == false)
    let second = await expectError(.brokerFailed) { try await accounts(client(broker)) }
    #expect(second?.isThrottled == true)
    #expect(second?.message == first?.message)
    // It may be too slow to have noticed the first.
    #expect(try broker.calls().count <= 1)
    broker.kill()
    let next = try StandInBroker(.native, on: broker.keyring)
    #expect(try await accounts(client(next)).count == 1)
    next.kill()
    await expectError(.noBroker) { try await accounts(client(next)) }
  }

  /// A broker that failed, and then would answer.
  private func failedBroker() async throws -> (broker: StandInBroker, file: String) {
    let broker = try StandInBroker(orders: #"{"do":{"*":"empty"}}"#)
    await #expect(throws: IdentityError.self) { try await accounts(client(broker)) }
    try broker.order("{}")
    return (broker, broker.keyring.directory + "/run/llavero/broker-failure")
  }

  @Test(.fault("hangs")) func `A failure is remembered for minutes in a private file`() async throws {
    let (broker, file) = try await failedBroker()
    var status = stat()
    #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
    let time = Date(
      timeIntervalSince1970: Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) / 1e9)
    // Neither for longer, nor where the clock was put back.
    for age in [FailureMemory.pause, -1] {
      #expect(try await accounts(client(broker) { time + age }).count == 1)
    }
    let account = try #require(await accounts(client(broker) { time - 1 }).first)
    for age in [0, FailureMemory.pause - 1] {
      let soon = client(broker) { time + age }
      let error = await expectError(.brokerFailed) { try await accounts(soon) }
      let second = await expectError(.brokerFailed) { try await soon.tokenSilently(request(account)) }
      #expect(error?.isThrottled == true && second?.isThrottled == true)
    }
  }

  @Test(.fault("hangs")) func `A recent failure can be ignored; a response ends its memory`() async throws {
    let (broker, file) = try await failedBroker()
    let insistent = client(broker, ignoresRecentFailure: true)
    try broker.order(#"{"do":{"*":"malformed"}}"#)
    let error = await #expect(throws: IdentityError.self) { try await accounts(insistent) }
    #expect(error?.isThrottled == false)
    #expect(FileManager.default.fileExists(atPath: file))
    try broker.order("{}")
    #expect(try await accounts(insistent).count == 1)
    #expect(try await accounts(client(broker)).count == 1)
  }

  @Test(.fault("hangs")) func `A person's sign-in asks a broker that has just failed`() async throws {
    let failed = [try await failedBroker().broker, try await failedBroker().broker]
    let asks = try await client(failed[0]).supportsInteractiveSignIn(
      clientID: Self.client, correlationID: UUID())
    #expect(asks)
    let token = try await client(failed[1]).tokenInteractively(request(nil))
    #expect(!token.accessToken.isEmpty)
  }

  @Test(.fault("hangs")) func `A failure of a broker on another bus does not count`() async throws {
    let (failed, _) = try await failedBroker()
    let other = try StandInBroker()
    let client = client(other, directory: failed.keyring.directory + "/run/llavero")
    #expect(try await accounts(client).count == 1)
  }

  @Test(
    .fault("bad memory"),
    arguments: [
      "", "\n", "nonsense", "\u{0}", String(repeating: "x", count: 10_000), ":1.0\n", "a b c\nd",
    ].abbreviated)
  func `A damaged memory of a failure is ignored`(text: Named<String>) async throws {
    let text = text.value
    let (broker, file) = try await failedBroker()
    try Data(text.utf8).write(to: URL(filePath: file))
    #expect(try await accounts(client(broker)).count == 1)
  }

  @Test(.fault("bad memory")) func `A memory that is not a file, or of others, does no harm`() async throws {
    let (broker, file) = try await failedBroker()
    let directory = URL(filePath: file).deletingLastPathComponent().path
    let contents = try Data(contentsOf: URL(filePath: file))
    // Believed as it is, so that what follows shows something.
    await #expect(throws: IdentityError.self) { try await accounts(client(broker)) }
    chmod(directory, 0o777)
    #expect(try await accounts(client(broker)).count == 1)
    chmod(directory, 0o700)
    let moved = broker.keyring.directory + "/elsewhere"
    try contents.write(to: URL(filePath: moved))
    for make in [
      {
        unlink(file); return symlink(moved, file)
      },
      {
        unlink(file); return mkfifo(file, 0o600)
      },
      {
        unlink(file); return mkdir(file, 0o700)
      },
    ] as [() -> Int32] {
      #expect(make() == 0)
      #expect(try await accounts(client(broker)).count == 1)
    }
    // And a failure then is told all the same.
    try broker.order(#"{"do":{"*":"empty"}}"#)
    await expectError(.brokerFailed) { try await accounts(client(broker)) }
  }

  @Test(.fault("bad memory")) func `A remembered failure is printable and has no tokens`() async throws {
    let (broker, file) = try await failedBroker()
    let contents = try String(contentsOfFile: file, encoding: .utf8)
    let token = "eyJhbGciOiJub25lIn0.eyJzZWNyZXQiOiJzZWNyZXQifQ.c2VjcmV0"
    try (contents + "\u{1b}[2J\u{7}\n" + token).write(toFile: file, atomically: true, encoding: .utf8)
    let error = await #expect(throws: IdentityError.self) { try await accounts(client(broker)) }
    let message = try #require(error?.message)
    #expect(message.contains("response is empty"))
    #expect(!message.contains("eyJ"))
    #expect(message.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f })
  }

  @Test(.fault("restarts")) func `A broker that ended is not taken for its successor`() async throws {
    let orders = #"{"do":{"getAccounts":"die"}}"#
    let broker = try StandInBroker(orders: orders)
    // Gets the name before anybody hears that the first one is no more.
    let next = try StandInBroker(on: broker.keyring, isSecond: true, orders: orders)
    defer { next.kill() }
    await expectError(.brokerFailed) { try await accounts(client(broker)) }
    try next.order("{}")
    #expect(try await accounts(client(next)).count == 1)
  }

  @Test(
    .fault("hangs"),
    arguments: [
      "unexpected", "unknown-status", "unregistered", "names", "dropped", "dbus:Not implemented",
      "dbus-error:org.freedesktop.DBus.Error.UnknownObject",
      "dbus-error:org.freedesktop.DBus.Python.ValueError",
    ].map { #"{"do":{"acquireTokenSilently":"\#($0)"}}"# } + [#"{"fields":{"accessTokenType":1}}"#])
  func `A refusal is no reason not to ask again`(orders: String) async throws {
    let broker = try StandInBroker(orders: orders)
    defer { broker.kill() }
    let client = client(broker)
    let account = try #require(await accounts(client).first)
    let request = try request(account)
    await #expect(throws: IdentityError.self) { try await client.tokenSilently(request) }
    try broker.order("{}")
    #expect(try await !client.tokenSilently(request).accessToken.isEmpty)
  }

  @Test(.fault("not running")) func `The first call starts a broker, not the check for it`() async throws {
    let broker = try StandInBroker(.native, isStarted: false)
    defer { broker.kill() }
    let client = client(broker)
    #expect(try await client.presence() == .startable)
    #expect(try await client.isAvailable())
    #expect(try broker.calls().isEmpty)
    #expect(try await accounts(client).count == 1)
    #expect(try await client.presence() == .running)
  }

  @Test(.fault("not running")) func `One that cannot be started failed, and is no absent one`() async throws {
    let broker = try StandInBroker(.native, isStarted: false)
    let service = broker.keyring.directory + "/services/broker.service"
    try "[D-BUS Service]\nName=com.microsoft.identity.broker1\nExec=/proc/nonexistent\n".write(
      toFile: service, atomically: true, encoding: .utf8)
    try broker.keyring.reloadServices()
    let error = await #expect(throws: IdentityError.self) { try await accounts(client(broker)) }
    #expect(error?.code == .brokerFailed, "\(error?.message ?? "")")
  }

  @Test(.fault("none")) func `Without a broker or a bus the broker is absent`() async throws {
    let keyring = try PrivateKeyring(startingDaemon: false)
    defer { keyring.shutdown() }
    for address in [keyring.busAddress, "unix:path=/proc/nonexistent"] {
      let client = LinuxBroker(busAddress: address)
      #expect(try await client.presence() == .absent)
      await expectError(.noBroker) { try await accounts(client) }
      #expect(try await !client.supportsInteractiveSignIn(clientID: Self.client, correlationID: id))
    }
  }

  @Test(.fault("hangs")) func `An interactive call has no timeout, and ends with its task`() async throws {
    let broker = try StandInBroker(.native, orders: #"{"do":{"acquireTokenInteractively":"never"}}"#)
    let client = client(broker)
    let request = try request(nil)
    let task = Task { try await client.tokenInteractively(request) }
    try await eventually { try broker.calls().contains { $0.method == "acquireTokenInteractively" } }
    task.cancel()
    await expectError(.cancelled) { try await task.value }
    // The broker is told nothing, and serves others meanwhile.
    #expect(try await accounts(client).count == 1)
    #expect(try !broker.calls().contains { $0.method == "cancelInteractiveFlow" })
  }

  @Test(arguments: StandInBroker.Kind.allCases)
  func `Microsoft's brokers ask the person, Himmelblau's do not`(kind: StandInBroker.Kind) async throws {
    for accounts in [StandInBroker.account(), ""]
    where kind != .himmelblau3 || !accounts.isEmpty {
      let broker = try StandInBroker(kind, orders: #"{"accounts":[\#(accounts)]}"#)
      defer { broker.kill() }
      let client = client(broker)
      let asks = try await client.supportsInteractiveSignIn(clientID: Self.client, correlationID: id)
      #expect(asks == (kind == .java || kind == .native), "\(accounts)")
    }
  }

  @Test func `Microsoft's broker is not taken for Himmelblau by accounts that say little`() async throws {
    let nameless =
      #"{"username":"alice@contoso.test","homeAccountId":"a11ce000-0000-4000-8000-000000000001.7","realm":"7"}"#
    let short = #"{"givenName":"Bob","name":"Bob","homeAccountId":"b0b00000-0000-4000-8000-000000000001.7"}"#
    let named = ["familyName", "clientInfo"].map { #"{"\#($0)":"e30",\#(short.dropFirst())"# }
    let long = short.replacing(#""name":"Bob""#, with: #""name":"Bob Baker""#)
    for accounts in [nameless, short + "," + nameless, long] + named {
      let broker = try StandInBroker(orders: #"{"accounts":[\#(accounts)]}"#)
      defer { broker.kill() }
      #expect(
        try await client(broker).supportsInteractiveSignIn(clientID: Self.client, correlationID: id),
        "\(accounts)")
    }
  }

  @Test(.fault("cannot"), arguments: StandInBroker.Kind.allCases)
  func `A removal works where the broker can`(kind: StandInBroker.Kind) async throws {
    let broker = try StandInBroker(kind)
    defer { broker.kill() }
    let client = client(broker)
    let account = try #require(await accounts(client).first)
    func remove() async throws { try await client.remove(account, clientID: Self.client, correlationID: id) }
    if kind == .java || kind == .native {
      try await remove()
    } else {
      let error = await expectError(.brokerFailed) { try await remove() }
      // The old Himmelblau does not respond to that, and goes on giving tokens.
      #expect(error?.isThrottled == false)
      #expect(try await accounts(client).count == 1)
    }
    #expect(try broker.calls().contains { $0.method == "removeAccount" })
  }
}
