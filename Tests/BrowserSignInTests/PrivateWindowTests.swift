import Foundation
import TestSupport

@testable import BrowserSignIn

/// Which browsers are asked for a private window, and how.
@Suite(.timeLimit(.minutes(20)))
struct PrivateWindowTests {
  @Test(
    arguments: [
      ("firefox", ["firefox", "--private-window", "A"]),
      ("/usr/bin/firefox-esr -P work %s &", ["/usr/bin/firefox-esr", "-P", "work", "--private-window", "A"]),
      ("/opt/librewolf/LibreWolf", ["/opt/librewolf/LibreWolf", "--private-window", "A"]),
      ("chromium --new-window:firefox", ["chromium", "--new-window", "--incognito", "A"]),
      ("google-chrome-stable", ["google-chrome-stable", "--incognito", "A"]),
      ("brave-browser --app=%s", ["brave-browser", "--incognito", "--app=A"]),
      ("microsoft-edge", ["microsoft-edge", "--inprivate", "A"]), ("opera", ["opera", "--private", "A"]),
      ("epiphany", ["epiphany", "--incognito-mode", "A"]),
      (
        "flatpak run --command=firefox org.mozilla.firefox",
        ["flatpak", "run", "--command=firefox", "org.mozilla.firefox", "--private-window", "A"]
      ),
    ].abbreviated)
  func `Browsers get their own switch before the address`(_ row: Named<(String, [String])>) async throws {
    let (variable, command) = row.value
    let browser = try #require(await SystemBrowser(environment: ["BROWSER": variable]).privateWindow())
    #expect(browser.commands(for: "A") == [command])
    #expect(browser.isAvailable)
  }

  @Test(arguments: ["lynx", "/opt/open-in-firefox.sh", "konqueror:firefox"])
  func `An unknown browser gets no private window`(_ variable: String) async {
    #expect(await SystemBrowser(environment: ["BROWSER": variable]).privateWindow() == nil)
  }

  /// The browser is a script whose page is the answer itself, which it asks for if it was told to be private.
  @Test func `The page opens with the switch`() async throws {
    let directory = try TemporaryDirectory()
    let program = try directory.program(
      "firefox",
      """
      #!/bin/sh
      [ "$1" = --private-window ] && exec /usr/bin/curl -q --silent --location --output /dev/null "$2"
      """)
    let authenticator = BrowserAuthenticator(browser: SystemBrowser(environment: ["BROWSER": program]))
    let ephemeral = try #require(await authenticator.ephemeral())
    let answer = try await ephemeral.authorize(
      startURL: { $0.appending(queryItems: [URLQueryItem(name: "code", value: "1")]) }, redirectURI: nil,
      responseMode: .query, isExpected: { $0["code"] == "1" }, timeout: .seconds(240))
    #expect(answer["code"] == "1")
  }

  @Test func `A way of the program's own has no private window`() async {
    let authenticator = BrowserAuthenticator(show: { _ in })
    #expect(await authenticator.ephemeral() == nil)
    #expect(authenticator.isAvailable)
  }

  /// Each case runs in a process of its own, since GLib reads the environment once.
  @Test func `The desktop's browser is found by its desktop file`() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory()
      try writeDesktop(
        directory.path,
        exec: "env LANG=C \"\(directory.path)/firefox\" --class \"My Fox\" @@u %u @@ --name %c")
      let found = try #require(await SystemBrowser(environment: ["DISPLAY": ":0"]).privateWindow())
      #expect(
        found.commands(for: "A") == [
          [
            "env", "LANG=C", directory.path + "/firefox", "--private-window", "A", "--class", "My Fox",
            "--name",
          ]
        ])
    }
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory()
      let command = [
        "env", "BAMF_DESKTOP_FILE_HINT=/apps/firefox_firefox.desktop", directory.path + "/firefox",
      ]
      try writeDesktop(directory.path, exec: command.joined(separator: " ") + " --new-window %u")
      let found = try #require(await SystemBrowser(environment: ["DISPLAY": ":0"]).privateWindow())
      #expect(found.commands(for: "A") == [command + ["--private-window", "A", "--new-window"]])
    }
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory()
      try writeDesktop(directory.path, exec: "env LANG=C reader %u")
      #expect(await SystemBrowser(environment: ["DISPLAY": ":0"]).privateWindow() == nil)
    }
  }
}

/// Makes a desktop in a directory whose browser is started so, and this process one of its programs.
private func writeDesktop(_ directory: String, exec: String) throws {
  for (name, value) in [
    ("HOME", directory), ("XDG_DATA_HOME", directory), ("XDG_CONFIG_HOME", directory),
    ("XDG_DATA_DIRS", directory), ("XDG_CONFIG_DIRS", directory),
  ] {
    setenv(name, value, 1)
  }
  unsetenv("XDG_CURRENT_DESKTOP")
  let applications = directory + "/applications"
  try FileManager.default.createDirectory(atPath: applications, withIntermediateDirectories: true)
  try Data(
    """
    [Desktop Entry]
    Type=Application
    Name=Browser
    Exec=\(exec)
    MimeType=x-scheme-handler/https;
    """.utf8
  ).write(to: URL(filePath: applications + "/own.desktop"))
  let list = Data("[Default Applications]\nx-scheme-handler/https=own.desktop\n".utf8)
  try list.write(to: URL(filePath: directory + "/mimeapps.list"))
}
