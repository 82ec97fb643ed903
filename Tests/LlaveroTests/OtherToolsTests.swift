import EntraLab
import FoundationEssentials
import TestSupport
import Testing
import TokenCache

@Suite(.timeLimit(.minutes(20)))
struct OtherToolsTests {
  private static let question = "protocol=https\nhost=dev.azure.com\nusername=contoso\n"
  private static let devOps = "499b84ac-1321-427f-aa17-267ca6975798/.default"

  private func values(_ output: String, _ name: String) -> [String] {
    output.split(separator: "\n").filter { $0.hasPrefix(name + "=") }
      .map { String($0.dropFirst(name.count + 1)) }
  }

  @Test func `Git gets a token for Azure DevOps, from the server and then from the cache`() async throws {
    try await withLab { lab in
      let tool = try LabTool(lab)
      try tool.logIn()
      let first = try tool("git-credential", "get", input: Self.question)
      #expect(first.status == 0, "\(first.standardError)")
      #expect(lab.requests(to: .token).last?.form["scope"]?.contains(Self.devOps) == true)
      let asked = lab.log.count
      let second = try tool("git-credential", "get", input: Self.question)
      #expect(second.standardOutput == first.standardOutput)
      #expect(lab.log.count == asked)
      let token = try tool("token", "--scope", Self.devOps).standardOutput
      #expect(values(first.standardOutput, "password").map { $0 + "\n" } == [token])
      #expect(values(first.standardOutput, "username") == [LabTool.alice])
      #expect(values(first.standardOutput, "password_expiry_utc").count == 1)

      let newer = try tool(
        "git-credential", "get",
        input: "capability[]=authtype\ncapability[]=state\nprotocol=https\nhost=contoso.visualstudio.com\n\n")
      #expect(newer.standardOutput.hasPrefix("capability[]=authtype\nauthtype=Bearer\n"))
      #expect(values(newer.standardOutput, "credential").map { $0 + "\n" } == [token])
      #expect(values(newer.standardOutput, "password").isEmpty)
    }
  }

  @Test func `Git asks with its own commands`() async throws {
    try await withLab { lab in
      let tool = try LabTool(lab)
      try tool.logIn()
      let helper = "credential.https://dev.azure.com.helper=!'\(Tool.path)' git-credential"
      let result = try Child.run(
        "git", ["-c", helper, "credential", "fill"],
        environment: tool.tool.environment(
          with: tool.environment.merging(["GIT_TERMINAL_PROMPT": "0"]) { $1 }),
        input: "protocol=https\nhost=dev.azure.com\n\n")
      #expect(result.status == 0, "\(result.standardError)")
      let token = try tool("token", "--scope", Self.devOps).standardOutput
      #expect(
        (values(result.standardOutput, "password") + values(result.standardOutput, "credential"))
          .map { $0 + "\n" } == [token])
    }
  }

  @Test(arguments: [
    "protocol=https\nhost=github.com\n", "protocol=http\nhost=dev.azure.com\n",
    "protocol=https\nhost=dev.azure.com.evil.example\n", "protocol=https\nhost=evilvisualstudio.com\n", "",
    "protocol=https\nhost=evil.example/.visualstudio.com\n",
    "protocol=https\nhost=evil.example#.visualstudio.com\n",
    "protocol=https\nhost=evil.example?.visualstudio.com\n",
    "protocol=https\nhost=evil.example\\.visualstudio.com\n",
    "protocol=https\nhost=evil.example:443@.visualstudio.com\n", "protocol=https\nhost=.visualstudio.com\n",
  ])
  func `The helper is silent about everything else`(_ question: String) throws {
    // Without a client: what is not for the helper is no business of its settings either.
    let result = try Child.run(
      Tool.path, ["git-credential", "get"], environment: try Tool().environment(with: [:]), input: question)
    #expect(result.status == 0)
    #expect(result.standardOutput.isEmpty && result.standardError.isEmpty)
  }

  @Test(arguments: ["store", "erase"])
  func `Nothing is stored or erased for git`(_ operation: String) throws {
    let result = try Tool().run(["git-credential", operation], input: Self.question)
    #expect(result.status == 0)
    #expect(result.standardOutput.isEmpty && result.standardError.isEmpty)
  }

  @Test func `The stand-in for az answers the Azure SDKs`() async throws {
    try await withLab { lab in
      let tool = try LabTool(lab)
      try tool.logIn()
      let directory = try TemporaryDirectory()
      #expect(try tool("shim", "install", "az", "--directory", directory.path).status == 0)
      // One for a tool that has been moved since.
      _ = try directory.file(
        "az", try directory.contents("az").replacing("exec '", with: "exec '/nowhere"))
      #expect(try tool("shim", "install", "az", "--directory", directory.path).status == 0)
      let environment = tool.tool.environment(with: tool.environment)
      let call = ["account", "get-access-token", "--output", "json"]
      let result = try Child.run(
        directory.path + "/az",
        call + ["--resource", "https://management.azure.com", "--tenant", LabDirectory.contoso],
        environment: environment)
      #expect(result.status == 0, "\(result.standardError)")
      #expect(try JSONValue(text: result.standardOutput)["tenant"]?.stringValue == LabDirectory.contoso)
      let form = lab.requests(to: .token).last?.form
      #expect(form?["scope"]?.hasPrefix("https://management.azure.com/.default ") == true)
      for arguments in [
        ["login"], [], ["account", "list"], ["account", "get-access-token", "--query", "accessToken"],
        ["account", "get-access-token", "-o", "tsv"], call + ["--scope"],
        call + ["--subscription", "x"], call + ["--tenant", "a b; echo $(touch \(directory.path)/x)"],
      ] {
        let refused = try Child.run(directory.path + "/az", arguments, environment: environment)
        #expect(refused.status == 2, "\(arguments)")
        #expect(refused.standardOutput.isEmpty)
      }
      #expect(!FileManager.default.fileExists(atPath: directory.path + "/x"))
    }
  }

  @Test func `The stand-in for azd answers the Azure SDKs`() async throws {
    try await withLab { lab in
      let tool = try LabTool(lab)
      try tool.logIn()
      let directory = try TemporaryDirectory()
      #expect(try tool.json("shim", "install", "azd", "--directory", directory.path)["path"] != nil)
      let result = try Child.run(
        directory.path + "/azd",
        ["auth", "token", "--output", "json", "--no-prompt", "--scope", "User.Read"],
        environment: tool.tool.environment(with: tool.environment))
      #expect(result.status == 0, "\(result.standardError)")
      #expect(try JSONValue(text: result.standardOutput).keys == ["expiresOn", "token"])
    }
  }

  @Test func `A file of somebody else's is left alone`() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.file("az", "#!/bin/sh\n")
    let result = try Tool().run(["shim", "install", "az", "--directory", directory.path])
    #expect(result.status == 1)
    #expect(result.standardError.contains("--directory"))
    #expect(try directory.contents("az") == "#!/bin/sh\n")
    try FileManager.default.removeItem(atPath: path)
    #expect(try Tool().run(["shim", "install", "az", "--directory", directory.path + "/none"]).status == 1)
  }

  @Test func `A stand-in that could not be written leaves nothing, and is written the next time`() throws {
    let directory = try TemporaryDirectory()
    let tool = try Tool()
    // As a full disk does, the limit lets the file be made and nothing be written to it.
    let result = try Child.run(
      "/bin/sh",
      [
        "-c", #"umask 0; trap "" XFSZ; ulimit -f 0; exec "$0" shim install az --directory "$1""#, Tool.path,
        directory.path,
      ],
      environment: tool.environment(with: [:]))
    #expect(result.status == 1)
    #expect(result.standardError.contains("File too large"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    #expect(try tool.run(["shim", "install", "az", "--directory", directory.path]).status == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["az"])
  }

  @Test func `A stand-in goes into a directory that is named`() throws {
    let tool = try Tool()
    #expect(try tool.run(["shim", "install", "az", "--directory", ""]).status == 2)
    let homeless = try tool.run(["shim", "install", "az"], environment: ["HOME": nil])
    #expect(homeless.status == 2)
    #expect(homeless.standardError.contains("HOME is not set"))
    #expect(!FileManager.default.fileExists(atPath: "/az"))
  }
}
