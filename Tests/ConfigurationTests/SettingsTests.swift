import FoundationEssentials
import TestSupport
import Testing

@testable import Configuration

struct SettingsTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// Reads a configuration file with these lines, and variables.
  private func settings(_ lines: String, _ variables: [String: String] = [:]) throws -> Settings {
    _ = try directory.directory("llavero")
    _ = try directory.file("llavero/config", "[llavero]\n\(lines)\n")
    return try Settings(environment: variables.merging(["XDG_CONFIG_HOME": directory.path]) { $1 })
  }

  @Test func `A variable goes before the file, and an empty one does not count`() throws {
    let lines = "client = file\ntenant = contoso.com\nscope = Mail.Read  Files.Read"
    let both = try settings(lines, ["LLAVERO_CLIENT_ID": "variable", "LLAVERO_TENANT": ""])
    #expect((both.clientID, both.tenant) == ("variable", "contoso.com"))
    #expect(both.scopes == ["Mail.Read", "Files.Read"])
  }

  @Test func `An address goes before endpoints and prefix, wherever they are set`() throws {
    let named = try settings(
      "store = etcd+https://new.example.com/new\nprefix = /old",
      ["LLAVERO_ENDPOINTS": "https://old.example.com"]
    ).store
    #expect((named.chosenEndpoints, named.chosenPrefix) == (["https://new.example.com"], "/new"))
    let alone = try settings(
      "store = etcd+https://new.example.com/new", ["LLAVERO_STORE": "etcd"])
    #expect(alone.store.chosenEndpoints == ["https://new.example.com"])
    let older = try settings("store = etcd\nendpoints = https://old.example.com")
    #expect(
      (older.store.chosenEndpoints, older.store.chosenPrefix) == (["https://old.example.com"], "/llavero"))
  }

  @Test func `A directory is absolute in the file, and may be relative in a variable`() throws {
    let error = #expect(throws: ConfigurationError.self) { try settings("store = file:cache") }
    #expect(error?.message.contains("\"store\" in \(directory.path)/llavero/config") == true)
    #expect(try settings("store = file:/srv/cache").store.address == .file(directory: "/srv/cache"))
    let variable = try settings("", ["LLAVERO_STORE": "file:cache"]).store.address
    #expect(variable == .file(directory: FileManager.default.currentDirectoryPath + "/cache"))
  }

  @Test func `Unknown settings are named, with those that exist`() throws {
    let unknown = try settings("gruop = com.example.mail\nclinet = x").unknown
    #expect(unknown?.message.hasSuffix("unknown settings clinet, gruop.") == true)
    #expect(unknown?.advice?.contains("account, authority, broker") == true)
    #expect(try settings("group = com.example.mail").unknown == nil)
  }
}
