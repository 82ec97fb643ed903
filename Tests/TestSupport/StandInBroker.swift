import FoundationEssentials
import GLibSupport
public import Testing
public import TokenCache

/// `Tests/interop/stand_in_broker.py` on the bus of a `PrivateKeyring`, which follows a test's orders.
public final class StandInBroker: Sendable {
  /// The known brokers.
  public enum Kind: String, Sendable, CaseIterable, CustomTestStringConvertible {
    /// Microsoft's up to version 2.0.1, and after that.
    case java, native
    case himmelblau3 = "himmelblau-3"
    case himmelblau4 = "himmelblau-4"

    public var testDescription: String { rawValue }
  }

  public let keyring: PrivateKeyring
  private let directory: String
  private let arguments: [String]
  private let child: Child?

  /// Starts one and waits until it has its name.
  ///
  /// - Parameters:
  ///   - kind: Which broker it is.
  ///   - keyring: The bus to be on; a new one, without a keyring, unless there is one.
  ///   - isStarted: Whether it runs. Otherwise the bus starts it with the first call.
  ///   - isSecond: Whether it gets the name when another broker, which has the same orders, ends.
  ///   - orders: What it does, as the script says, in JSON.
  /// - Throws: ``SetUpFailure`` when it does not start.
  public init(
    _ kind: Kind = .native, on keyring: PrivateKeyring? = nil, isStarted: Bool = true,
    isSecond: Bool = false, orders: String = "{}"
  ) throws {
    self.keyring = try keyring ?? PrivateKeyring(startingDaemon: false)
    directory = self.keyring.directory
    arguments =
      [
        Self.script, "--kind", kind.rawValue, "--control", directory + "/broker.json", "--log",
        directory + "/broker.log",
      ] + (isSecond ? ["--second"] : [])
    try orders.write(toFile: directory + "/broker.json", atomically: true, encoding: .utf8)
    guard isStarted else {
      child = nil
      let command = (["/usr/bin/python3"] + arguments).joined(separator: " ")
      try PrivateKeyring.write(
        "[D-BUS Service]\nName=com.microsoft.identity.broker1\nExec=\(command)\n",
        to: directory + "/services/broker.service")
      try self.keyring.reloadServices()
      return
    }
    let output = try Pipe()
    let words = directory + "/broker.words"
    child = try Child.piped(
      "/usr/bin/python3", arguments, environment: self.keyring.environment, output: output, log: words)
    guard output.readLine() == "ready" else {
      throw SetUpFailure("stand_in_broker.py did not start", log: words)
    }
  }

  deinit { kill() }

  private static let script = SharedFiles.repository.appending(path: "Tests/interop/stand_in_broker.py").path

  /// Tells it what to do from now on.
  public func order(_ orders: String) throws {
    // In one step, for the broker may be reading.
    try orders.write(toFile: directory + "/broker.json", atomically: true, encoding: .utf8)
  }

  /// Ends it at once.
  public func kill() { child?.end() }

  /// One call that it got.
  public struct Call: Decodable, Sendable {
    public let method: String
    public let version: String
    public let id: String
    public let body: JSONObject
  }

  /// The calls that it got so far.
  public func calls() throws -> [Call] {
    guard let log = FileManager.default.contents(atPath: directory + "/broker.log") else { return [] }
    return try log.split(separator: UInt8(ascii: "\n")).map { try JSONDecoder().decode(Call.self, from: $0) }
  }

  /// An account as the broker lists it, in JSON.
  public static func account(
    _ name: String = "Alice", uid: String = "a11ce000-0000-4000-8000-000000000001",
    home: String = "70000000-0000-4000-8000-000000000001", realm: String? = nil
  ) -> String {
    """
    {"environment":"login.windows.net","givenName":"\(name)","familyName":"Example","name":"\(name) Example",
    "username":"\(name.lowercased())@contoso.test","homeAccountId":"\(uid).\(home)","localAccountId":"\(uid)",
    "realm":"\(realm ?? home)","passwordExpiry":0}
    """
  }
}
