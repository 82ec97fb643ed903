import Foundation
import TestSupport

@testable import BrowserSignIn

@Suite(.timeLimit(.minutes(20)))
struct SystemBrowserTests {
  @Test(arguments: [
    ("firefox", [["firefox", "A"]]), ("firefox -P work %s &", [["firefox", "-P", "work", "A"]]),
    ("one:two --x=%s", [["one", "A"], ["two", "--x=A"]]), ("", []), (" : &", []),
    ("'sh'", [["sh", "A"]]),
  ])
  func `BROWSER names commands, with or without an address`(_ variable: String, _ expected: [[String]]) {
    let browser = SystemBrowser(environment: ["BROWSER": variable])
    #expect(browser.commands(for: "A") == expected + [["xdg-open", "A"], ["gio", "open", "A"]])
  }

  @Test func `The path of a program may have spaces`() throws {
    let directory = try TemporaryDirectory()
    _ = try directory.directory("Program Files")
    let path = try directory.program("Program Files/a b.exe", "#!/bin/sh\n")
    for (variable, rest) in [(path, ["A"]), (path + " -x %s", ["-x", "A"]), ("\"\(path)\" %s &", ["A"])] {
      let browser = SystemBrowser(environment: ["BROWSER": variable])
      #expect(browser.commands(for: "A").first == [path] + rest)
    }
  }

  @Test(
    .fault("browser status"),
    arguments: [
      ("#!/bin/sh\nexit 1\n", "browser", false), ("#!/bin/sh\nexit 1\n", "EXPLORER.EXE", true),
      ("#!/bin/sh\nexit 4\n", "xdg-open", false), ("#!/bin/sh\nkill -9 $$\n", "browser", false),
    ])
  func `A command that reports an error may have opened the page, and no other is tried`(
    script: String, name: String, isGood: Bool
  ) async throws {
    let directory = try TemporaryDirectory()
    let path = try directory.program(name, script)
    let other = try directory.program("other", "#!/bin/sh\ntouch '\(directory.path)/opened twice'\n")
    var browser = SystemBrowser(environment: ["BROWSER": "\(path):\(other)", "PATH": "/usr/bin:/bin"])
    browser.watchTime = .seconds(300)
    #expect(try await browser.open(#require(URL(string: "https://localhost/"))) == isGood)
    #expect(access(directory.path + "/opened twice", F_OK) != 0)
  }

  @Test(arguments: [
    ([:], false), (["DISPLAY": ""], false), (["DISPLAY": ":0"], true),
    (["WAYLAND_DISPLAY": "wayland-0"], true),
    (["BROWSER": "lynx"], true),
  ])
  func `Without a desktop there is no browser`(_ environment: [String: String], _ isAvailable: Bool) {
    #expect(SystemBrowser(environment: environment).isAvailable == isAvailable)
  }

  @Test func `A command that fails gives way to the next; none left is an error`() async throws {
    let url = try #require(URL(string: "https://localhost/"))
    let path = "/usr/bin:/bin"
    // A desktop without applications: gio would open the page with any browser that is installed.
    let desktop = [
      "HOME": "/proc/nonexistent", "XDG_DATA_HOME": "/proc/nonexistent", "XDG_DATA_DIRS": "/proc/nonexistent",
    ]
    func open(_ environment: [String: String]) async throws(IdentityError) -> Bool {
      var browser = SystemBrowser(environment: environment)
      // On a busy machine a command that fails may need longer than browsers get.
      browser.watchTime = .seconds(300)
      return try await browser.open(url)
    }
    let failing = "/proc/nonexistent/browser:sh -c exit\\ 127:env /etc/passwd"
    let browsers = ["BROWSER": failing + ":true", "PATH": path]
    #expect(SystemBrowser(environment: browsers).program == "sh")
    #expect(try await open(browsers))
    if geteuid() == 0 {
      await expectError(.browserUnavailable) { try await open(browsers.merging(["SUDO_USER": "x"]) { $1 }) }
    }
    await expectError(.browserUnavailable) {
      try await open(
        desktop.merging(["BROWSER": "/proc/nonexistent/browser", "PATH": "/proc/nonexistent"]) { $1 })
    }
    await expectError(.browserUnavailable) { try await open(["PATH": path]) }
  }

  @Test(arguments: ["file:///etc/passwd", "javascript:alert(1)", "mailto:x@y.test"])
  func `Only web pages are opened`(_ address: String) async throws {
    let url = try #require(URL(string: address))
    await expectError(.browserUnavailable) {
      try await SystemBrowser(environment: ["BROWSER": "true", "PATH": "/usr/bin:/bin"]).open(url)
    }
  }

  @Test func `A command is waited for also after a cancellation`() async {
    await #expect(processExitsWith: .success) {
      let url = try #require(URL(string: "https://localhost/"))
      let opening = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        try await SystemBrowser(environment: ["BROWSER": "true", "PATH": "/usr/bin:/bin"]).open(url)
      }
      try await opening.value
      var child = siginfo_t()
      try await eventually { waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) != 0 }
    }
  }
}
