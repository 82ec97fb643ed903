import SecretService
import TestSupport

/// The built tool, run as a child on a private keyring, in a group of its own.
struct Tool: Sendable {
  var keyring: PrivateKeyring
  let group = "test.g\(UInt64.random(in: 0 ... .max))"
  /// For the files of the test.
  let files: TemporaryDirectory
  /// The environment of each run besides the keyring's. Here and in changes, `nil` removes a variable.
  var settings: [String: String?] = [:]

  /// Uses a keyring of the test's own, or one that tests share.
  init(on keyring: PrivateKeyring? = nil, settings: [String: String?] = [:]) throws {
    self.keyring = try keyring ?? Self.sharedKeyring()
    self.settings = settings
    files = try TemporaryDirectory()
  }

  /// The same with settings that name the test's files.
  init(
    on keyring: PrivateKeyring? = nil, settings: (TemporaryDirectory) throws -> [String: String?]
  ) throws {
    try self.init(on: keyring)
    self.settings = try settings(files)
  }

  /// One of eight, the same for all tests of a file: each change to a keyring costs more, the more it holds.
  private static func sharedKeyring() throws -> PrivateKeyring {
    let number = (Test.current?.sourceLocation.fileID ?? "").hashValue & 7
    return try keyrings.withLock { keyrings in
      let keyring = keyrings[number] ?? Swift.Result { try PrivateKeyring(isActivatable: true) }
      keyrings[number] = keyring
      return try keyring.get()
    }
  }

  private static let keyrings = Mutex<[Int: Swift.Result<PrivateKeyring, any Error>]>([:])

  static let path = Child.built("llavero")

  func run(
    _ arguments: [String], input: String = "", with changes: [String: String?] = [:]
  ) throws -> Child.Result {
    try Child.run(Self.path, arguments, environment: environment(with: changes), input: input)
  }

  /// Runs a command in the tool's group.
  func callAsFunction(
    _ arguments: String..., input: String = "", with changes: [String: String?] = [:]
  ) throws -> Child.Result {
    try self(arguments, input: input, with: changes)
  }

  func callAsFunction(
    _ arguments: [String], input: String = "", with changes: [String: String?] = [:]
  ) throws -> Child.Result {
    try run(inGroup(arguments), input: input, with: changes)
  }

  /// Starts a command with pipes.
  func start(
    _ arguments: [String], input: Pipe? = nil, output: Pipe? = nil, errors: Pipe? = nil,
    with changes: [String: String?] = [:]
  ) throws -> Child {
    try Child.piped(
      Self.path, arguments, environment: environment(with: changes), input: input, output: output,
      errors: errors)
  }

  /// Runs a shell script whose `$0` is the tool, and whose `$GROUP` is its group.
  func shell(
    _ script: String, _ arguments: [String] = [], input: String = "", with changes: [String: String?] = [:]
  ) throws -> Child.Result {
    try Child.run(
      "/bin/sh", ["-c", script, Self.path] + arguments,
      environment: environment(with: changes).merging(["GROUP": group]) { $1 }, input: input)
  }

  /// Runs a command in the tool's group, expects success, and decodes its output.
  func json(
    _ arguments: String..., input: String = "", with changes: [String: String?] = [:]
  ) throws -> JSONValue {
    let result = try self(arguments + ["--json"], input: input, with: changes).exits(0)
    #expect(result.standardError.isEmpty, "\(result.standardError)")
    return try result.json
  }

  /// Fills the group.
  func load(_ cache: String = Sample.cache, with changes: [String: String?] = [:]) throws {
    try self("import", "-", input: cache, with: changes).required()
  }

  func load(_ records: [SampleRecord]) throws { try load(Sample.cache(records)) }

  /// Everything in the group.
  func exported(with changes: [String: String?] = [:]) throws -> JSONValue {
    try self("export", with: changes).required().json
  }

  private var client: SecretServiceClient { SecretServiceClient(busAddress: keyring.busAddress) }

  /// The paths of the group's items.
  private func paths() async throws -> [ObjectPath] {
    try await client.search(["group": group], in: client.collection().path).unlocked
  }

  /// Adds an item to the group without the tool: that of an account, or of none.
  func create(account: String?, secret: String, adding attributes: [String: String] = [:]) async throws {
    let shard = ShardID(homeAccountID: account, group: try KeychainGroup(group))
    try await create(shard: shard.rawValue, secret: secret, adding: attributes)
  }

  func create(
    shard: String, version: String = "1", secret: String, adding attributes: [String: String] = [:]
  ) async throws {
    let own = ["xdg:schema": "org.llavero.TokenCache", "group": group, "shard": shard, "version": version]
    _ = try await client.create(
      label: "Test", attributes: own.merging(attributes) { $1 },
      secret: SecretBytes(copying: Array(secret.utf8)), in: client.collection().path)
  }

  /// Adds a second item beside the only one in the group.
  func createTwin(secret: String) async throws {
    let shard = try await client.item(#require(try await paths().first)).attributes["shard"]
    try await create(shard: try #require(shard), secret: secret)
  }

  /// The secrets of the group's items.
  func items() async throws -> [String] {
    try await client.secrets(of: paths()).values
      .map { $0.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }.sorted()
  }

  func environment(with changes: [String: String?] = [:]) -> [String: String] {
    let changes = settings.merging(changes) { $1 }
    // Milliseconds; a test of a silent broker sets less.
    let defaults: [String: String?] = ["TERM": "xterm", "LLAVERO_TEST_BROKER_LIMIT": "600000"]
    return keyring.environment.merging(defaults.merging(changes) { $1 }.compactMapValues { $0 }) { $1 }
      .filter { changes[$0.key] != .some(nil) }
  }

  func inGroup(_ arguments: [String]) -> [String] {
    let isNamed =
      (settings["LLAVERO_GROUP"] ?? nil) != nil || arguments.first == "doctor"
      || arguments.contains("--groups")
    return isNamed ? arguments : arguments + ["--group", group]
  }
}

extension Pipe {
  /// Writes as many empty lines as it holds: what writes to it then waits until they are read.
  func fill() {
    _ = fcntl(writing, F_SETFL, O_NONBLOCK)
    for size in [4096, 1] {
      while write(writing, [UInt8](repeating: 10, count: size), size) > 0 {}
    }
    _ = fcntl(writing, F_SETFL, 0)
  }
}

extension Child.Result {
  /// Expects an exit code, all or parts of the output and of standard error, texts that are in neither, and the code of the
  /// error that `--json` prints.
  @discardableResult
  func exits(
    _ status: Int32, printing output: String? = nil, errors: String? = nil, showing shown: String...,
    saying words: String..., hiding hidden: String..., code: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) -> Self {
    #expect(self.status == status, "\(standardError)", sourceLocation: sourceLocation)
    if let output { #expect(standardOutput == output, "\(standardError)", sourceLocation: sourceLocation) }
    if let errors { #expect(standardError == errors, sourceLocation: sourceLocation) }
    for text in shown {
      #expect(standardOutput.contains(text), "\(standardError)", sourceLocation: sourceLocation)
    }
    for text in words {
      #expect(standardError.contains(text), "\(standardError)", sourceLocation: sourceLocation)
    }
    for text in hidden {
      #expect(!(standardOutput + standardError).contains(text), "\(self)", sourceLocation: sourceLocation)
    }
    if let code {
      let actual = try? error?["code"]?.stringValue
      #expect(actual == code, "\(standardError)", sourceLocation: sourceLocation)
    }
    return self
  }

  /// The result of a step that the rest of a test needs.
  @discardableResult
  func required(sourceLocation: SourceLocation = #_sourceLocation) throws -> Self {
    try #require(status == 0, "\(standardError)", sourceLocation: sourceLocation)
    return self
  }

  /// The output of `--json`.
  var json: JSONValue { get throws { try JSONValue(text: standardOutput) } }

  /// The error that `--json` printed.
  var error: JSONValue? { get throws { try JSONValue(text: standardError)["error"] } }
}

extension String {
  /// The words of a command.
  var words: [String] { split(separator: " ").map(String.init) }
}

extension TemporaryDirectory {
  /// Creates a file with a key for a store, and returns its path.
  @discardableResult
  func keyFile(_ name: String = "key", of letter: Character = "k") throws -> String {
    try file(name, String(repeating: letter, count: 32), mode: 0o600)
  }
}

extension JSONValue {
  init(text: String) throws {
    self = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
  }

  subscript(name: String) -> JSONValue? { objectValue?[name] }

  subscript(index: Int) -> JSONValue? { arrayValue.flatMap { $0.indices.contains(index) ? $0[index] : nil } }

  /// The names of an object's members in alphabetical order.
  var keys: [String] { (objectValue ?? [:]).keys.sorted() }

  /// The strings that the elements of an array have under a name.
  func strings(_ name: String) -> [String] { (arrayValue ?? []).compactMap { $0[name]?.stringValue } }

  /// Without the sections of the schema that have no record.
  var withoutEmptySections: JSONValue {
    let known = ["AccessToken", "RefreshToken", "IdToken", "Account", "AppMetadata"]
    return .object(
      (objectValue ?? [:]).filter { !known.contains($0.key) || $0.value.objectValue?.isEmpty == false })
  }

  /// Every token in a serialized cache.
  var secrets: [String] {
    switch self {
    case .object(let members):
      members.flatMap { name, value in
        value.secrets + [name == "secret" ? value.stringValue : nil].compactMap { $0 }
      }
    case .array(let elements): elements.flatMap(\.secrets)
    default: []
    }
  }
}
