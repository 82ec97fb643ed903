import EntraLab
import TestSupport

@Suite struct CommandTests {
  @Test(arguments: [SIGINT, SIGTERM])
  func `The command prints its addresses, and cleans up when stopped`(signal: Int32) throws {
    let files = try TemporaryDirectory()
    let directory = files.path + "/new/lab"
    let output = try Pipe()
    let child = try Child.piped(
      Child.built("entra-lab"), ["--directory", directory], environment: [:], output: output)
    defer { child.end() }
    let authority = output.readLine()
    let bundle = output.readLine()
    let control = output.readLine()
    #expect(authority.hasPrefix("https://localhost:") && authority.hasSuffix("/common"))
    #expect(bundle == directory + "/entra-lab-ca.pem")
    #expect(control == authority.replacing("/common", with: "/__ctl"))
    let answer = try Child.run("curl", ["-q", "-s", "--cacert", bundle, control])
    #expect(answer.standardOutput.contains("alice@contoso.test"))
    child.signal(signal)
    #expect(child.wait() == 0)
    #expect(access(bundle, F_OK) != 0)
  }

  @Test func `The help names the users, the clients and every control request`() throws {
    let help = try Child.run(Child.built("entra-lab"), ["--help"]).standardOutput
    let verbs = [
      "configure", "fault", "approveDevice", "declineDevice", "revoke", "condition", "mfa", "addUser",
      "addApp",
      "clearLog", "clearFaults", "endDelays", "reset",
    ]
    let directory = LabDirectory.standard
    let names = directory.users.map(\.userPrincipalName) + directory.apps.map(\.clientID)
    for text in names + verbs.map({ "{\"\($0)\":" }) {
      #expect(help.contains("\n  \(text)"), "\(text)")
    }
    #expect(help.split(separator: "\n").allSatisfy { $0.count <= 80 })
  }

  @Test func `The command can print JSON`() throws {
    let output = try Pipe()
    let child = try Child.piped(Child.built("entra-lab"), ["--json"], environment: [:], output: output)
    defer { child.end() }
    let json = try JSONDecoder().decode(JSON.self, from: Data(output.readLine().utf8))
    #expect(json["authority"] != nil && json["caBundle"] != nil && json["control"] != nil)
    child.signal(SIGTERM)
    #expect(child.wait() == 0)
  }
}
