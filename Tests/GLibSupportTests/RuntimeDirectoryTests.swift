import GLibSupport
import Glibc
import TestSupport
import Testing

struct RuntimeDirectoryTests {
  @Test func `The runtime directory is the session's`() {
    #expect(RuntimeDirectory(environment: ["XDG_RUNTIME_DIR": "/run/x"]).path == "/run/x/llavero")
  }

  @Test(.fault("runtime dir"), arguments: [[:], ["XDG_RUNTIME_DIR": ""], ["XDG_RUNTIME_DIR": "relative"]])
  func `Without a session's directory it is one that carries the user's number`(environment: [String: String])
  {
    let user = geteuid()
    let isLoggedIn = access("/run/user/\(user)", F_OK) == 0
    let path = RuntimeDirectory(environment: environment).path
    #expect(path == (isLoggedIn ? "/run/user/\(user)/llavero" : "/tmp/llavero-\(user)"))
  }

  @Test func `In a snap the directory is not shared`() {
    #expect(RuntimeDirectory(environment: [:]).isShared)
    #expect(!RuntimeDirectory(environment: ["SNAP": "/snap/app/1"]).isShared)
  }

  @Test(.fault("foreign runtime"))
  func `A directory in one that others may use is refused, and not made`() throws {
    let home = try TemporaryDirectory()
    let runtime = RuntimeDirectory(environment: ["XDG_RUNTIME_DIR": home.path])
    #expect(try runtime.directory("loan").path == runtime.path + "/loan")
    chmod(runtime.path, 0o777)
    #expect(throws: PrivateFileError.notPrivate(path: runtime.path)) { try runtime.directory("other") }
    #expect(access(runtime.path + "/other", F_OK) != 0)
  }
}
