import TestSupport

@testable import SecretService

@Suite(.timeLimit(.minutes(20)))
struct ProviderTests {
  @Test func `A name that no program owns and the bus cannot start is missing`() async throws {
    let service = try FakeService(names: ["org.freedesktop.secrets", "org.example.Owned"])
    for (name, isThere) in [("org.example.Owned", true), ("org.example.Missing", false)] {
      let found = try await service.client().perform { (connection, cancellable) throws(SecretServiceError) in
        try connection.hasOrCanStart(name, cancellable)
      }
      #expect(found == isThere)
    }
  }

  @Test(arguments: [
    ("login", "login"), ("my_5fkeys", "my_keys"), ("_c3_a9t_c3_a9_202", "été 2"), ("a_zz", "a_zz"),
  ])
  func `A name in a path is read as gnome-keyring wrote it`(element: String, name: String) {
    let path = "/org/freedesktop/secrets/collection/\(element)"
    #expect(ObjectPath(path: path, owner: ":1.1").unescapedName == name)
  }

  /// As root in a process of another user, which may not read the link to the parent's program.
  @Test func `A program whose file cannot be seen is the one that it was started as`() async {
    await #expect(processExitsWith: .success) {
      let own = Provider(process: UInt32(getpid())).name
      if geteuid() == 0 { #expect(setuid(65534) == 0) }
      #expect(Provider(process: UInt32(getppid())).name == own)
    }
  }
}
