import FoundationEssentials
import GLibSupport
import Glibc

/// A provider of the Secret Service.
public enum KeyringProvider: String, Sendable {
  case gnomeKeyring = "gnome-keyring"
  case kwallet
  /// With all prompts disabled, so that it needs no display.
  case keepassxc
  /// With default settings. `Tests/providers` answers its dialogs on `DISPLAY`.
  case keepassxcAsInstalled = "keepassxc-as-installed"
  /// Debian lacks the program: `Tests/interop/stand_in_oo7.py`, which behaves as its sources say.
  case oo7

  /// The provider that `TEST_KEYRING` names (default: gnome-keyring), for tests that pass on each.
  public static let chosen = processEnvironment()["TEST_KEYRING"].flatMap(Self.init) ?? .gnomeKeyring

  public var isInstalled: Bool { Self.isProgram(program) }

  /// Whether it prompts for new and deleted items, so that a store needs permission.
  public var promptsForWrites: Bool { self == .keepassxc || self == .keepassxcAsInstalled }

  private static func isProgram(_ name: String) -> Bool { access("/usr/bin/\(name)", X_OK) == 0 }

  var program: String {
    switch self {
    case .gnomeKeyring: "gnome-keyring-daemon"
    // Since KDE Frameworks 6.14 the keyring is ksecretd.
    case .kwallet: ["ksecretd", "kwalletd6"].first(where: Self.isProgram) ?? "kwalletd5"
    case .keepassxc, .keepassxcAsInstalled: "keepassxc"
    case .oo7: "python3"
    }
  }

  /// The default collection.
  var collection: String {
    switch self {
    case .gnomeKeyring, .oo7: "/org/freedesktop/secrets/collection/login"
    case .kwallet: "/org/freedesktop/secrets/collection/kdewallet"
    case .keepassxc, .keepassxcAsInstalled: "/org/freedesktop/secrets/collection/llavero"
    }
  }

  /// Starts the program. Unless `unlocked`, an existing collection stays locked.
  func start(
    in directory: String, environment: [String: String], group: pid_t, unlocked: Bool
  ) throws -> Child {
    switch self {
    case .gnomeKeyring:
      let password = try Pipe()
      let child = try Child(
        program, Self.arguments(in: directory, unlocked: unlocked), environment: environment, group: group,
        streams: (unlocked ? password.reading : nil, nil, nil), log: Self.log(in: directory))
      if unlocked { _ = write(password.writing, PrivateKeyring.password, PrivateKeyring.password.utf8.count) }
      return child
    case .kwallet:
      let wallet = directory + "/data/kwalletd/kdewallet.kwl"
      if access(wallet, F_OK) != 0 {
        // A wallet is exported only when it is there at the start.
        let configuration =
          "[Wallet]\nFirst Use=false\nEnabled=true\n[org.freedesktop.secrets]\napiEnabled=true\n"
        mkdir(directory + "/config", 0o700)
        try PrivateKeyring.write(configuration, to: directory + "/config/kwalletrc")
        let first = try startKWallet(in: directory, environment: environment, group: group, unlocked: true)
        for _ in 0..<100_000 where access(wallet, F_OK) != 0 { usleep(1000) }
        first.end()
      }
      return try startKWallet(in: directory, environment: environment, group: group, unlocked: unlocked)
    case .keepassxc, .keepassxcAsInstalled:
      return try startKeePassXC(in: directory, environment: environment, group: group)
    case .oo7:
      let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "interop/stand_in_oo7.py").path
      return try Child(
        "/usr/bin/python3", [script, directory] + (unlocked ? [] : ["--locked"]), environment: environment,
        group: group, log: Self.log(in: directory))
    }
  }

  /// The program's log.
  static func log(in directory: String) -> String { directory + "/keyring.log" }

  /// The arguments of gnome-keyring, which reads its password from standard input.
  static func arguments(in directory: String, unlocked: Bool) -> [String] {
    ["--foreground", "--components=secrets", "--control-directory=\(directory)/run/keyring"]
      + (unlocked ? ["--unlock"] : [])
  }

  /// Whether the program that has the name has also opened its collection.
  func isReady(on bus: BusConnection, unlocked: Bool, _ cancellable: Cancellable) -> Bool {
    func ask(_ path: String, _ interface: String, _ method: String, _ names: [String], _ reply: String)
      -> Variant?
    {
      let service = "org.freedesktop.secrets"
      let arguments = names.map(Variant.string)
      return try? bus.call(service, path, interface, method, arguments, reply: reply, cancellable).first
    }
    switch self {
    case .gnomeKeyring, .oo7: return true
    case .kwallet where program != "ksecretd":
      let isOpen = ask("/modules/\(program)", "org.kde.KWallet", "isOpen", ["kdewallet"], "(b)")
      return !unlocked || isOpen?.boolean == true
    case .kwallet, .keepassxc, .keepassxcAsInstalled:
      let properties = "org.freedesktop.DBus.Properties"
      let names = ["org.freedesktop.Secret.Collection", "Locked"]
      let isLocked = ask(collection, properties, "Get", names, "(v)")?.unwrapped?.boolean
      return !unlocked || isLocked == false
    }
  }

  /// Starts KWallet without a dialog, as PAM does at login: a key comes over one descriptor, the environment
  /// over the other, a listening socket.
  private func startKWallet(
    in directory: String, environment: [String: String], group: pid_t, unlocked: Bool
  ) throws -> Child {
    var environment = environment
    environment["QT_QPA_PLATFORM"] = "offscreen"
    let log = Self.log(in: directory)
    guard unlocked else { return try Child(program, [], environment: environment, group: group, log: log) }
    let path = directory + "/kwallet.socket"
    unlink(path)
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    let descriptors = (0..<2).map { _ in socket(AF_UNIX, kind, 0) }
    defer { descriptors.forEach { close($0) } }
    func withAddress(_ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32) throws {
      if withSocketAddress(of: path, call) != 0 { throw SetUpFailure("\(path): \(errno)") }
    }
    try withAddress { bind(descriptors[0], $0, $1) }
    listen(descriptors[0], 1)
    try withAddress { connect(descriptors[1], $0, $1) }

    let key = try Pipe()
    let size = 56
    _ = write(key.writing, [UInt8](repeating: 7, count: size), size)
    key.closeWriting()
    environment["PAM_KWALLET5_LOGIN"] = path
    // It takes the descriptors 0 to 2 for none.
    return try Child(
      "sh", ["-c", "exec \(program) --pam-login 3 4 3<&0 4>&1 </dev/null >/dev/null"],
      environment: environment, group: group, streams: (key.reading, descriptors[0], nil), log: log)
  }

  /// Starts KeePassXC with a database that it shows on the bus.
  private func startKeePassXC(
    in directory: String, environment: [String: String], group: pid_t
  ) throws -> Child {
    var environment = environment
    environment["DISPLAY"] = processEnvironment()["DISPLAY"]
    if environment["DISPLAY"] == nil { environment["QT_QPA_PLATFORM"] = "offscreen" }
    let database = directory + "/llavero.kdbx"
    let configuration = directory + "/keepassxc.ini"
    let password = PrivateKeyring.password + "\n"
    if access(database, F_OK) != 0 {
      try PrivateKeyring.write(
        """
        [General]
        SingleInstance=false
        UpdateCheckMessageShown=true
        [GUI]
        CheckForUpdates=false
        [FdoSecrets]
        Enabled=true
        \(self == .keepassxc ? "ShowNotification=false\nConfirmAccessItem=false\nConfirmDeleteItem=false" : "")
        """, to: configuration)
      // The group that is exposed is named by its number, once as text and once in Base64.
      try PrivateKeyring.write(
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <KeePassFile><Meta><DatabaseName>llavero</DatabaseName><RecycleBinEnabled>False</RecycleBinEnabled>
        <CustomData><Item><Key>FDO_SECRETS_EXPOSED_GROUP</Key>
        <Value>{00000000-0000-0000-0000-000000000001}</Value></Item></CustomData></Meta>
        <Root><Group><UUID>AAAAAAAAAAAAAAAAAAAAAQ==</UUID><Name>Root</Name></Group></Root></KeePassFile>
        """, to: directory + "/llavero.xml")
      try Child.output(
        "keepassxc-cli", ["import", "-p", directory + "/llavero.xml", database],
        environment: environment.merging(["QT_QPA_PLATFORM": "offscreen"]) { $1 }, input: password + password)
    }
    // 2.7.10 crashes at its start when it is to read the password from standard input.
    let open = """
      name=org.keepassxc.KeePassXC.MainWindow
      { gdbus wait --session $name && until gdbus call --session --dest $name --object-path /keepassxc \
        --method $name.openDatabase "$1" "$2" >/dev/null; do sleep 0.1; done; } &
      exec keepassxc --config "$3" --localconfig "$4" "$1"
      """
    return try Child(
      "sh",
      ["-c", open, "sh", database, PrivateKeyring.password, configuration, directory + "/local.ini"],
      environment: environment, group: group, log: Self.log(in: directory))
  }
}
