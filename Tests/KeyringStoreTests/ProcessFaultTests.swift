import KeyringStore
import TestSupport

/// Processes that are stopped, belong to another user, or run in a poor environment.
@Suite(.timeLimit(.minutes(20)))
struct ProcessFaultTests {
  private let token = SampleToken("one", account: 1)
  private let next = SampleToken("next", account: 1)

  @Test(.fault("lock stopped"))
  func `While the lock's holder is stopped writers time out, and readers go on`() async throws {
    let fixture = try await Fixture(saving: token)
    let worker = try await fixture.server()
    #expect(await worker.ask("begin") == "writing")
    worker.stop()
    let impatient = fixture.accessor(on: fixture.otherStore(timeout: .seconds(1)))
    func reader() -> KeyringCacheStore { fixture.otherStore(timeout: .seconds(20)) }
    for _ in 0..<2 {
      let error = await expectCacheError(.timedOut) { try await impatient.save(next) }
      #expect(error?.advice?.contains("fuser -v") == true)
      #expect(try await fixture.accessor(on: reader()).finds(token))
      #expect(try await reader().read(.all, in: fixture.group).documents.count == 2)
    }
    worker.kill()
    _ = await worker.finish()
    try await fixture.cache.save(next)
    #expect(try await fixture.otherCache().finds(next))
  }

  @Test(.fault("no HOME")) func `Without HOME the store works`() async throws {
    let fixture = try Fixture()
    let environment = fixture.keyring.environment.filter { $0.key != "HOME" }
    let worker = try Worker([Worker.program, "serve", fixture.group.name], environment: environment)
    #expect(await worker.nextLine() == "ready")
    #expect(await worker.ask("save a") == "saved")
    #expect(await worker.ask("find a") == "found")
    #expect(await worker.finish().status == 0)
  }

  @Test(
    .fault("other user"), .enabled(if: geteuid() == 0, "only root can become another user"))
  func `Another user can access neither the keyring nor the locks`() async throws {
    let fixture = try await Fixture(saving: token)
    // The keyring's directory opened as far as it goes without its files: the bus itself must refuse.
    for path in ["", "/run"] { chmod(fixture.keyring.directory + path, 0o755) }
    chmod(fixture.keyring.directory + "/run/bus", 0o777)
    // Nor need the directory of the build be open to others.
    let tool = fixture.keyring.directory + "/llavero"
    let built = Worker.program.replacing("/Worker", with: "/llavero")
    try Child.output("cp", [built, tool])
    func run(_ arguments: [String], _ changes: [String: String] = [:]) throws -> Child.Result {
      try Child.run(
        "setpriv", ["--reuid=65534", "--regid=65534", "--clear-groups", tool] + arguments,
        environment: fixture.keyring.environment.merging(changes) { $1 })
    }
    // A user that may not even start the program proves nothing.
    try #require(try run(["--version"]).status == 0)
    for command in [["list", "--groups"], ["list", "--group", fixture.group.name]] {
      let result = try run(command)
      #expect(result.status == 1)
      #expect(result.standardError.contains("no D-Bus session bus"))
      #expect(!(result.standardOutput + result.standardError).contains(token.username))
    }
    let doctor = try run(["doctor"])
    #expect(doctor.standardOutput.contains("\(fixture.keyring.directory)/run/llavero"))
    #expect(doctor.status == 1)
    #expect(try await fixture.otherCache().finds(token))
  }
}
