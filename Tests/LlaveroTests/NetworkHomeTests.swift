import FoundationEssentials
import Glibc
import TestSupport
import Testing
import TokenCache

/// The tool where directories are on a network file system.
@Suite(
  .serialized, .timeLimit(.minutes(20)),
  .enabled(if: NetworkMount.isPossible, "bindfs and sshfs make no mounts here."))
struct NetworkHomeTests {
  private let tool: Tool
  private let files: TemporaryDirectory

  init() throws {
    tool = try Tool()
    files = try TemporaryDirectory()
    chmod(try files.file("key", String(repeating: "k", count: 32)), 0o600)
    _ = try files.directory("export")
  }

  private func mount(_ kind: NetworkMount.Kind) throws -> NetworkMount {
    try NetworkMount(kind, of: files.path + "/export")
  }

  private func finding(_ check: String, _ environment: [String: String?]) throws -> JSONValue? {
    let result = try tool.run(["doctor", "--json"], environment: environment)
    let findings = try JSONValue(text: result.standardOutput)["findings"]?.arrayValue
    return findings?.first { $0["check"]?.stringValue == check }
  }

  @Test func `doctor says of the file store what other machines mean for it`() throws {
    for (kind, state) in [(NetworkMount.Kind.withLocks, "warning"), (.withoutLocks, "problem")] {
      let mount = try mount(kind)
      let environment: [String: String?] = [
        "XDG_DATA_HOME": mount.path, "LLAVERO_STORE": "file", "LLAVERO_KEY": "file:\(files.path)/key",
      ]
      for _ in 0..<2 {
        let finding = try finding("sealed_files", environment)
        #expect(finding?["state"]?.stringValue == state)
        #expect(finding?["message"]?.stringValue?.contains("fuse.") == true)
        #expect(finding?["advice"]?.stringValue?.contains("XDG_DATA_HOME") == true)
        // Once more, with a store where one can be made.
        let imported = try tool.run(
          tool.inGroup(["import", "-", "--json"]), input: Sample.cache, environment: environment)
        #expect(imported.status == (state == "warning" ? 0 : 1), "\(imported.standardError)")
      }
    }
  }

  @Test func `Locks of the keyring's groups on a network file system are told of, and hold`() throws {
    let mount = try mount(.withLocks)
    let environment: [String: String?] = ["XDG_RUNTIME_DIR": mount.path]
    let finding = try finding("lock_directory", environment)
    #expect(finding?["state"]?.stringValue == "warning")
    #expect(finding?["message"]?.stringValue?.contains("fuse.glusterfs") == true)
    for name in ["bob", "rob", "job"] {
      let cache = Sample.cache.replacing("bob@contoso", with: "\(name)@contoso")
      let result = try tool.run(tool.inGroup(["import", "-"]), input: cache, environment: environment)
      #expect(result.status == 0, "\(result.standardError)")
      let accounts = try tool.run(tool.inGroup(["accounts"]), environment: environment)
      #expect(accounts.standardOutput.contains("@contoso.example"))
    }
  }
}
