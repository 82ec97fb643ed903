import LabSupport

/// What takes minutes; `Tests/trials` runs it.
@Suite(.serialized, .enabled(if: getenv("LLAVERO_TRIALS") != nil, "Tests/trials runs it"))
struct EtcdTrials {
  @Test(.fault("fifty machines"), .lab)
  func `Fifty machines that renew one account's token at once ask for it twice at most`() async throws {
    let (lab, cluster) = (Lab.current, try EtcdCluster())
    let files = try TemporaryDirectory()
    let trusted = try [lab.caBundlePath, cluster.caBundle]
      .map { String(decoding: try Data(contentsOf: URL(filePath: $0)), as: UTF8.self) }.joined(
        separator: "\n")
    var tool = try Tool.atLab()
    tool.settings.merge([
      "LLAVERO_STORE": "etcd", "LLAVERO_ENDPOINTS": cluster.endpoints.joined(separator: ","),
      "LLAVERO_KEY": "file:" + cluster.keyFile, "LLAVERO_ETCD_USER": EtcdCluster.user,
      "LLAVERO_ETCD_PASSWORD": "file:" + cluster.passwordFile,
      "LLAVERO_CA_BUNDLE": try files.file("trusted.pem", trusted),
    ]) { $1 }
    try tool.logIn()
    let before = lab.requests(to: .token).count
    // No machine gets a response before all have begun.
    lab.inject(LabFault(.token, delay: 600))
    let machines = try (0..<50).map { number in
      let home = try files.directory("machine\(number)/run")
      chmod(home, 0o700)
      return try Child(
        Tool.path, ["token", "--scope", "Mail.Read"],
        environment: tool.environment(with: ["HOME": home, "XDG_RUNTIME_DIR": home]))
    }
    _ = await lab.requests(to: .token, atLeast: before + 1)
    // Each machine that waits for its turn has a lease.
    try await eventually { try cluster.administrate("lease", "list").split(separator: "\n").count > 25 }
    lab.endDelays()
    for machine in machines { #expect(machine.wait() == 0) }
    let asked = lab.requests(to: .token).count - before
    #expect((1...2).contains(asked))
    print("50 machines, \(asked) requests")
  }
}
