import EntraLab
import TestSupport

@Suite struct CommandTests {
  @Test(arguments: [SIGINT, SIGTERM])
  func `The command prints its addresses, and cleans up when stopped`(signal: Int32) throws {
    let directory = FileManager.default.temporaryDirectory.path + "/entra-lab-test-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let output = try Pipe()
    let child = try Child(
      program(), ["--directory", directory], environment: [:], streams: (nil, output.writing, nil))
    defer { child.end() }
    output.closeWriting()
    let authority = output.readLine()
    let bundle = output.readLine()
    let control = output.readLine()
    #expect(authority.hasPrefix("https://localhost:") && authority.hasSuffix("/common"))
    #expect(bundle == directory + "/entra-lab-ca.pem")
    #expect(control == authority.replacing("/common", with: "/__ctl"))
    let answer = try Child.run(
      "curl", ["-q", "-s", "--cacert", bundle, control], environment: ["PATH": "/usr/bin:/bin"])
    #expect(answer.standardOutput.contains("alice@contoso.test"))
    child.signal(signal)
    #expect(child.wait() == 0)
    #expect(access(bundle, F_OK) != 0)
  }

  @Test func `The command can print JSON`() throws {
    let output = try Pipe()
    let child = try Child(program(), ["--json"], environment: [:], streams: (nil, output.writing, nil))
    defer { child.end() }
    output.closeWriting()
    let json = try JSONDecoder().decode(JSON.self, from: Data(output.readLine().utf8))
    #expect(json["authority"] != nil && json["caBundle"] != nil && json["control"] != nil)
    child.signal(SIGTERM)
    #expect(child.wait() == 0)
  }

  /// Next to the test bundle, where SwiftPM builds it for this target.
  private func program() throws -> String {
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return own.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/entra-lab"
  }
}
