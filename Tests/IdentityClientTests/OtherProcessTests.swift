import Foundation
import TestSupport

@testable import IdentityClient

struct OtherProcessTests {
  /// Another process that holds the lock for an account's renewals until it is told to let go.
  struct Holder {
    let child: Child
    let input: TestSupport.Pipe

    init(_ account: Account, _ test: TestClient) throws {
      let shard = ShardID(homeAccountID: account.homeAccountID, group: test.cache.group)
      let name = "renewal-\(shard.rawValue).lock"
      try HeldLockFile(directory: TestDirectory.locks, name: name).release()
      let (input, output) = (try TestSupport.Pipe(), try TestSupport.Pipe())
      child = try Child.piped(
        "flock", ["\(TestDirectory.locks)/\(name)", "sh", "-c", "echo held; read line"],
        environment: ["PATH": "/usr/bin:/bin"], input: input, output: output)
      self.input = input
      #expect(output.readLine() == "held")
    }

    func letGo() {
      input.closeWriting()
      child.wait()
    }
  }

  @Test(.conformance(32)) func `A renewal waits for another process, and takes its token`() async throws {
    let test = TestClient()
    let person = TestPerson(uid: "waits-for-another-process")
    let account = try await test.expired(person)
    let holder = try Holder(account, test)
    let before = test.transport.requests.count
    let silent = Task { try await test.silent(account) }
    try await eventually { test.log.count(of: "Waiting for the account's turn.") >= 1 }
    try await test.save(person, access: "theirs", refresh: "refresh-2")
    holder.letGo()
    #expect(try await silent.value.accessToken == "theirs")
    #expect(test.transport.requests.count == before)
  }

  @Test(.conformance(32)) func `The lock of a process that died is free`() async throws {
    let test = TestClient()
    let person = TestPerson(uid: "outlives-another-process")
    let account = try await test.expired(person)
    let holder = try Holder(account, test)
    test.transport.answerTokens(test.tokens("ours", of: person))
    let silent = Task { try await test.silent(account) }
    try await eventually { test.log.count(of: "Waiting for the account's turn.") >= 1 }
    kill(-holder.child.pid, SIGKILL)
    holder.child.wait()
    #expect(try await silent.value.accessToken == "ours")
  }

  @Test(.fault("renewal stopped"))
  func `A process that keeps its turn to renew is waited for less than the ten seconds of an SDK`()
    async throws
  {
    let test = TestClient(clock: TestClock(turn: .milliseconds(1)))
    let person = TestPerson(uid: "goes-on-without-another-process")
    let account = try await test.expired(person)
    let holder = try Holder(account, test)
    // As a stopped process does, it keeps the lock.
    defer { holder.letGo() }
    #expect(Timing.system.turn < .seconds(10))
    test.transport.answerTokens(test.tokens("ours", of: person))
    #expect(try await test.silent(account).accessToken == "ours")
    #expect(test.log.count(of: "Another process has been renewing") == 1)
  }

  @Test func `A lock file that cannot be used does not keep anybody from a token`() async throws {
    let test = TestClient()
    let account = try await test.expired()
    let own = PublicClient(
      configuration: test.client.configuration, cache: test.cache, transport: test.transport,
      authenticator: nil,
      logger: test.client.log.logger, now: { test.clock.now }, timing: test.clock.timing,
      lockDirectory: "/proc/nowhere")
    test.transport.answerTokens(test.tokens())
    let result = try await own.acquireTokenSilent(SilentRequest(scopes: ["User.Read"], account: account))
    #expect(result.accessToken == "access-2")
    #expect(test.log.text.contains("cannot be used"))
  }
}
