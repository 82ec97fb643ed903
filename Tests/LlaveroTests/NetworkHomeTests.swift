import TestSupport

/// The tool where directories are on a network file system.
@Suite(
  .serialized, .timeLimit(.minutes(20)),
  .enabled(if: NetworkMount.isPossible, "mounts need root, bindfs and sshfs"))
struct NetworkHomeTests {
  private let tool: Tool

  init() throws {
    tool = try Tool()
    try tool.files.keyFile()
    try tool.files.directory("export")
  }

  private func mount(_ kind: NetworkMount.Kind) throws -> NetworkMount {
    try NetworkMount(kind, of: tool.files.path + "/export")
  }

  @Test(.fault("no net locks"))
  func `The doctor reports a file store that other machines share`() throws {
    for (kind, state) in [(NetworkMount.Kind.withLocks, "warning"), (.withoutLocks, "problem")] {
      let mount = try mount(kind)
      let environment: [String: String?] = [
        "XDG_DATA_HOME": mount.path, "LLAVERO_STORE": "file", "LLAVERO_KEY": "file:\(tool.files.path)/key",
      ]
      for _ in 0..<2 {
        let finding = try tool.examine(with: environment).findings("sealed_files").first
        #expect(finding?["state"]?.stringValue == state)
        #expect(finding?["message"]?.stringValue?.contains("fuse.") == true)
        #expect(finding?["advice"]?.stringValue?.contains("XDG_DATA_HOME") == true)
        // Once more, with a store where one can be made.
        try tool("import", "-", "--json", input: Sample.cache, with: environment)
          .exits(state == "warning" ? 0 : 1)
      }
    }
  }

  @Test(.fault("runtime net"))
  func `Locks of the keyring's groups on a network file system are reported, and hold`() throws {
    let mount = try mount(.withLocks)
    let environment: [String: String?] = ["XDG_RUNTIME_DIR": mount.path]
    let finding = try tool.examine(with: environment).findings("lock_directory").first
    #expect(finding?["state"]?.stringValue == "warning")
    #expect(finding?["message"]?.stringValue?.contains("fuse.glusterfs") == true)
    for name in ["bob", "rob", "job"] {
      let cache = Sample.cache.replacing("bob@contoso", with: "\(name)@contoso")
      try tool(["import", "-"], input: cache, with: environment).exits(0)
      try tool("status", with: environment).exits(0, showing: "@contoso.example")
    }
  }
}
