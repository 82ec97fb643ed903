package import GLibSupport
import Glibc
import Synchronization

/// A D-Bus session bus and a keyring of their own, in a temporary directory of their own.
///
/// The user's own session is not used: the daemons' environment is made from nothing, and the bus knows only the service
/// files that a test puts into `services`, so that no other program is started. All children are in one process group,
/// led by a ``Watchdog``.
public final class PrivateKeyring: Sendable {
  public static let password = "keyring password"

  /// For tests that leave the daemon running and unlocked. gnome-keyring 42.1 ends once in some ten thousand sessions,
  /// and is restarted.
  public static let shared = Swift.Result { try PrivateKeyring(isActivatable: true) }

  public var directory: String { files.path }
  public let busAddress: String
  /// What a child process needs to use this keyring, and nothing else.
  public let environment: [String: String]

  private let files: TemporaryDirectory
  private let watchdog: Watchdog
  private let bus: Child
  private let daemon = Mutex<Child?>(nil)
  private let provider: KeyringProvider

  /// Without `startingDaemon` the bus has no Secret Service. With `isActivatable` the bus starts gnome-keyring, unlocked,
  /// for the next call after it has ended.
  public init(
    startingDaemon: Bool = true, isActivatable: Bool = false, provider: KeyringProvider = .gnomeKeyring
  ) throws {
    self.provider = provider
    files = try TemporaryDirectory()
    let directory = files.path
    var environment = [
      "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": directory,
      "XDG_DATA_HOME": directory + "/data", "XDG_CONFIG_HOME": directory + "/config",
      "XDG_CACHE_HOME": directory + "/cache", "XDG_RUNTIME_DIR": directory + "/run",
      "XDG_DATA_DIRS": directory + "/none", "TMPDIR": directory,
      "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/proc/nonexistent",
    ]
    watchdog = try Watchdog(over: directory, environment: environment)

    for name in ["data", "run", "services"] { mkdir(directory + "/" + name, 0o700) }
    try Self.write(Self.busConfiguration(directory), to: directory + "/bus.conf")
    if isActivatable {
      let start = "printf '%s' '\(Self.password)' | exec gnome-keyring-daemon"
      let arguments = KeyringProvider.arguments(in: directory, unlocked: true).joined(separator: " ")
      try Self.write("\(start) \(arguments)\n", to: directory + "/keyring.sh")
      try Self.write(
        "[D-BUS Service]\nName=\(Self.serviceName)\nExec=/bin/sh \(directory)/keyring.sh\n",
        to: directory + "/services/keyring.service")
    }
    let address = try Pipe()
    bus = try Child.piped(
      "dbus-daemon", ["--config-file=\(directory)/bus.conf", "--nofork", "--nosyslog", "--print-address=1"],
      environment: environment, group: watchdog.group, output: address, log: directory + "/bus.log")
    busAddress = address.readLine()
    if busAddress.isEmpty { throw SetUpFailure("dbus-daemon did not start", log: directory + "/bus.log") }
    environment["DBUS_SESSION_BUS_ADDRESS"] = busAddress
    self.environment = environment
    if startingDaemon { try startDaemon() }
  }

  deinit { shutdown() }

  /// Ends everything and removes the directory. Waits until that is done.
  public func shutdown() {
    watchdog.end()
    bus.wait()
    daemon.withLock { _ = $0?.wait() }
  }

  /// Starts the keyring, or another one, and waits until it provides the Secret Service. Unless `unlocked`, the default
  /// collection of an earlier run stays locked.
  public func startDaemon(_ other: KeyringProvider? = nil, unlocked: Bool = true) throws {
    let provider = other ?? provider
    func start() throws -> Child {
      let child = try provider.start(
        in: directory, environment: environment, group: watchdog.group, unlocked: unlocked)
      daemon.withLock { $0 = child }
      return child
    }
    var child = try start()
    var started = ContinuousClock.now
    var ends = 0
    let cancellable = Cancellable(timeout: .seconds(300))
    let connection = try BusConnection(address: busAddress, cancellable)
    while !cancellable.isPastDeadline {
      let isOwned = try? connection.ask(
        "NameHasOwner", [.string(Self.serviceName)], reply: "(b)", cancellable)?.boolean
      if isOwned == true, provider.isReady(on: connection, unlocked: unlocked, cancellable) { return }
      // KWallet ends when the bus has not yet seen that the one before it is gone. Rarely it fails to open its wallet, and
      // then stays without it.
      if child.hasEnded || .now - started > .seconds(60) {
        child.end()
        ends += 1
        if ends == 100 { break }
        child = try start()
        started = .now
      }
      usleep(1000)
    }
    throw SetUpFailure(
      "\(provider.program) did not offer the Secret Service" + (ends > 0 ? ", and ended \(ends) times" : ""),
      log: KeyringProvider.log(in: directory))
  }

  /// Ends the keyring at once, as a crash would.
  public func killDaemon() {
    daemon.withLock {
      $0?.end()
      $0 = nil
    }
  }

  /// Ends the keyring as a crash would, and starts it again.
  public func restartDaemon(unlocked: Bool = true) throws {
    killDaemon()
    try startDaemon(unlocked: unlocked)
  }

  /// Stops the keyring, so that it does not reply.
  public func stopDaemon() { daemon.withLock { $0?.signal(SIGSTOP) } }

  public func continueDaemon() { daemon.withLock { $0?.signal(SIGCONT) } }

  /// Ends the bus, and with it the service.
  public func killBus() { bus.end() }

  public func lockCollection() throws {
    let (connection, cancellable) = try connect()
    _ = try connection.call(
      Self.serviceName, Self.servicePath, Self.serviceInterface, "Lock",
      [.objectPaths([provider.collection])], reply: "(aoo)", cancellable)
  }

  /// Makes a collection without a password before gnome-keyring starts. It has it unlocked from then on.
  public func makePlaintextCollection(_ name: String) throws {
    mkdir(directory + "/data/keyrings", 0o700)
    let header = "[keyring]\ndisplay-name=\(name)\nctime=0\nmtime=0\nlock-on-idle=false\nlock-after=false\n"
    try Self.write(header, to: directory + "/data/keyrings/\(name).keyring")
  }

  /// Has KWallet write and close the wallet, as it does at logout, and then ends it.
  public func closeWallet() throws {
    let (connection, cancellable) = try connect()
    _ = try connection.call(
      Self.serviceName, "/modules/kwalletd5", "org.kde.KWallet", "close",
      [.string("kdewallet"), .boolean(true)], reply: "(i)", cancellable)
    killDaemon()
  }

  /// Unlocks with the password and without a prompt, through an interface that only gnome-keyring has.
  public func unlockCollection() throws {
    let (connection, cancellable) = try connect()
    let session = try connection.call(
      Self.serviceName, Self.servicePath, Self.serviceInterface, "OpenSession",
      [.string("plain"), .variant(.string(""))], reply: "(vo)", cancellable)
    let secret = Variant.tuple([
      session[1], .bytes([]), .bytes(Array(Self.password.utf8)), .string("text/plain"),
    ])
    _ = try connection.call(
      Self.serviceName, Self.servicePath, "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface",
      "UnlockWithMasterPassword", [.objectPath(provider.collection), secret], reply: "()", cancellable)
  }

  /// Has the bus read what is in `services` now.
  public func reloadServices() throws {
    let (connection, cancellable) = try connect()
    _ = try connection.ask("ReloadConfig", [], reply: "()", cancellable)
  }

  /// A connection to the bus, and the deadline of calls on it.
  package func connect() throws -> (BusConnection, Cancellable) {
    let cancellable = Cancellable(timeout: .seconds(120))
    return (try BusConnection(address: busAddress, cancellable), cancellable)
  }

  private static let serviceName = "org.freedesktop.secrets"
  private static let servicePath = "/org/freedesktop/secrets"
  private static let serviceInterface = "org.freedesktop.Secret.Service"

  package static func write(_ text: String, to path: String) throws {
    guard let file = fopen(path, "we"), fputs(text, file) >= 0, fclose(file) == 0 else {
      throw SetUpFailure("\(path) cannot be written: \(String(cString: strerror(errno)))")
    }
  }

  private static func busConfiguration(_ directory: String) -> String {
    """
    <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
     "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
    <busconfig>
      <type>session</type>
      <listen>unix:path=\(directory)/run/bus</listen>
      <auth>EXTERNAL</auth>
      <servicedir>\(directory)/services</servicedir>
      <policy context="default">
        <allow send_destination="*" eavesdrop="true"/>
        <allow eavesdrop="true"/>
        <allow own="*"/>
      </policy>
      <limit name="max_match_rules_per_connection">50000</limit>
      <limit name="max_replies_per_connection">50000</limit>
      <limit name="service_start_timeout">600000</limit>
      <limit name="auth_timeout">600000</limit>
    </busconfig>
    """
  }
}

extension Variant {
  package static func bytes(_ value: [UInt8]) -> Variant {
    value.withUnsafeBytes { bytes($0) }
  }
}
