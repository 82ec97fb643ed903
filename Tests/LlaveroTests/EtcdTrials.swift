import LabSupport

/// What takes minutes; `Tests/trials` runs it.
@Suite(.serialized, .enabled(if: getenv("LLAVERO_TRIALS") != nil, "Tests/trials runs it"))
struct EtcdTrials {
  @Test(.fault("fifty machines"), .lab)
  func `Fifty machines that renew one account's token at once ask for it twice at most`() async throws {
    let (lab, cluster) = (Lab.current, try EtcdCluster())
    let trusted = try [lab.caBundlePath, cluster.caBundle]
      .map { String(decoding: try Data(contentsOf: URL(filePath: $0)), as: UTF8.self) }.joined(
        separator: "\n")
    var tool = try Tool.atLab()
    tool.settings.merge(cluster.settings) { $1 }
    tool.settings["LLAVERO_CA_BUNDLE"] = try tool.files.file("trusted.pem", trusted)
    try tool.logIn()
    let before = lab.requests(to: .token).count
    // No machine gets a response before all have begun.
    lab.inject(LabFault(.token, delay: 600))
    let machines = try (0..<50).map { number in
      let home = try tool.files.directory("machine\(number)/run")
      chmod(home, 0o700)
      let errors = try Pipe()
      let machine = try tool.start(
        ["token", "--scope", "Mail.Read"], errors: errors, with: ["HOME": home, "XDG_RUNTIME_DIR": home])
      return (machine, errors)
    }
    _ = await lab.requests(to: .token, atLeast: before + 1)
    // Each machine that waits for its turn has a lease.
    try await eventually { try cluster.administrate("lease", "list").split(separator: "\n").count > 25 }
    lab.endDelays()
    for (machine, errors) in machines { #expect(machine.wait() == 0, "\(errors.remainingLines())") }
    let asked = lab.requests(to: .token).count - before
    #expect((1...2).contains(asked))
    print("50 machines, \(asked) requests")
  }
}
