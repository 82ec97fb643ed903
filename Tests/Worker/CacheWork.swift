import EncryptedFileStore
import EtcdStore
import FoundationEssentials
import GLibSupport
import Glibc
import IdentityClient
import KeyringStore
import MSALExtensionsStore
import ProofOfPossession
import Sealing
import SecretService
import SoupTransport
import TokenCache
import WorkerSupport

/// Works on a token cache in the keyring; in the file store if `CACHE_WORKER_KEY_FILE` names its key, or in etcd if
/// `CACHE_WORKER_ENDPOINTS` is set as well.
///
/// - `Worker save <group> <name> <count> <accounts>` saves tokens called `<name>-0`, `<name>-1`, … and
///   writes the name of each on a line as soon as it was saved.
/// - `Worker serve <group>` does what each line of its standard input says, and writes a line when done.
/// - `Worker share <location> <name> <count> <accounts>` does what `save` does in a cache of msal-extensions
///   for Python.
/// - `Worker soak <group> <name> <accounts>` works until its standard input ends, and writes what it did
///   as JSON; `Worker verify <group>` reads such reports, one a line, and writes how many saves are lost.
/// - `Worker residue <group> <name>` finds the token `<name>-0`, and writes how many tokens `<name>-…` as they
///   stand in the serialized cache that left in memory; then how many copies a `SecretBytes` left.
/// - `Worker rounds <count>` saves and finds a token repeatedly, and writes its memory.
/// - `Worker count <directory> <count>` begins and ends writes in the lock file `group` there, once its standard input has
///   ended.
struct CacheWork {
  let group: KeychainGroup
  let store: any CacheStore
  let cache: TokenCacheAccessor

  init(group: String, store: (any CacheStore)? = nil) throws {
    self.group = try KeychainGroup(group)
    self.store = try store ?? Self.store(ProcessInfo.processInfo.environment)
    cache = TokenCacheAccessor(store: self.store, group: self.group)
  }

  private static func store(_ environment: [String: String]) throws -> any CacheStore {
    guard let keyFile = environment["CACHE_WORKER_KEY_FILE"] else { return KeyringCacheStore() }
    let key = KeySource.keyFile(path: keyFile)
    guard let endpoints = environment["CACHE_WORKER_ENDPOINTS"] else {
      return EncryptedFileCacheStore(key: key, timeout: .seconds(120))
    }
    let user = environment["CACHE_WORKER_ETCD_USER"].map { name in
      EtcdUser(name: name, password: .keyFile(path: environment["CACHE_WORKER_ETCD_PASSWORD_FILE"] ?? ""))
    }
    return try EtcdCacheStore(
      endpoints: endpoints.split(separator: ",").map(String.init),
      prefix: environment["CACHE_WORKER_PREFIX"] ?? "", key: key, user: user,
      transport: SoupHTTPTransport(environment: environment, allowsLoopbackHTTP: true),
      timeout: .seconds(120),
      checksEveryLookup: environment["CACHE_WORKER_CHECKS"] != nil)
  }

  static func run(_ arguments: [String]) async throws {
    switch (arguments.first, arguments.count) {
    case ("save", 5):
      guard let count = Int(arguments[3]), let accounts = Int(arguments[4]) else { exit(64) }
      try await CacheWork(group: arguments[1]).save(arguments[2], count: count, accounts: accounts)
    case ("share", 5):
      guard let count = Int(arguments[3]), let accounts = Int(arguments[4]) else { exit(64) }
      let store = MSALExtensionsCacheStore(.msalExtensions(location: arguments[1]))
      try await CacheWork(group: store.group.name, store: store)
        .save(arguments[2], count: count, accounts: accounts)
    case ("serve", 2): try await CacheWork(group: arguments[1]).serve()
    case ("soak", 4):
      guard let accounts = Int(arguments[3]) else { exit(64) }
      let writer = SoakWriter(cache: try CacheWork(group: arguments[1]).cache)
      let report = try await JSONEncoder().encode(writer.run(arguments[2], accounts: accounts))
      writeLine(String(decoding: report, as: UTF8.self))
    case ("verify", 2): try await CacheWork(group: arguments[1]).verify()
    case ("residue", 3): try await showResidue(of: arguments[2], in: arguments[1])
    case ("rounds", 2):
      guard let count = Int(arguments[1]) else { exit(64) }
      try await CacheWork(group: "org.example.rounds").runRounds(count)
    case ("count", 3):
      guard let count = Int(arguments[2]) else { exit(64) }
      try countWrites(in: arguments[1], count)
    default: exit(64)
    }
  }

  private func save(_ name: String, count: Int, accounts: Int) async throws {
    // Each begins with another account, so that they meet in different ones.
    let start = name.utf8.reduce(0) { $0 &* 31 &+ Int($1) } % accounts
    for number in 0..<count {
      let token = SampleToken("\(name)-\(number)", account: (start + number) % accounts)
      try await cache.save(token)
      writeLine("\(token.name)")
    }
  }

  /// `save <name>` and `find <name>` of account 0; `problems` reads the whole group; `pop-key` writes the thumbprint of
  /// the key for bound tokens; `hold` takes the group's lock, and `begin` begins a write besides, until the input ends.
  private func serve() async throws {
    writeLine("ready")
    while let line = readLine() {
      let words = line.split(separator: " ").map(String.init)
      let token = SampleToken(words.count > 1 ? words[1] : "", account: 0)
      switch words.first {
      case "save":
        try await cache.save(token)
        writeLine("saved")
      case "find": writeLine(try await cache.finds(token) ? "found" : "missing")
      case "pop-key": writeLine(try await GroupKeys().key(for: cache).id)
      case "problems": writeLine("\(try await store.read(.all, in: group).problems.count)")
      case "hold":
        try await store.update([], in: group) { _ in
          writeLine("holding")
          while readLine() != nil {}
        }
      case "begin":
        let file = try SharedLockFile(
          directory: RuntimeDirectory(environment: ProcessInfo.processInfo.environment).path,
          name: String(sha256Hex(group.name).prefix(32)) + ".lock")
        try file.lock()
        file.beginWrite()
        writeLine("writing")
        while readLine() != nil {}
        file.unlock()
      default: exit(64)
      }
    }
  }

  private static func countWrites(in directory: String, _ count: Int) throws {
    let file = try SharedLockFile(directory: directory, name: "group")
    writeLine("ready")
    while readLine() != nil {}
    for _ in 0..<count {
      try file.lock()
      file.beginWrite()
      file.endWrite()
      file.unlock()
    }
  }

  private func verify() async throws {
    let writer = SoakWriter(cache: cache)
    var lost = 0
    while let line = readLine() {
      for place in try JSONDecoder().decode(SoakWriter.Report.self, from: Data(line.utf8)).places {
        if try await !writer.holds(place) { lost += 1 }
      }
    }
    writeLine("\(lost)")
  }

  private static func showResidue(of name: String, in group: String) async throws {
    let inCache = MemoryScan(#""secret":"access."#, name, "-")
    let token = SampleToken("\(name)-0", account: 0)
    guard try await CacheWork(group: group).cache.finds(token) else { exit(70) }
    writeLine("\(inCache.count())")

    let end = String(repeating: "#", count: 64)
    let inSecret = MemoryScan(name, end)
    var text = Array(name.utf8) + Array(end.utf8)
    var secret: SecretBytes? = text.withUnsafeMutableBytes { bytes in
      defer { for index in bytes.indices { bytes[index] = 0 } }
      return SecretBytes(copying: UnsafeRawBufferPointer(bytes))
    }
    guard withExtendedLifetime(secret, inSecret.count) == 1 else { exit(70) }
    secret = nil
    writeLine("\(inSecret.count())")
  }

  private func runRounds(_ count: Int) async throws {
    for number in 1...count {
      let token = SampleToken("round-\(number)", account: 0, scope: "api://sample/same")
      try await cache.save(token)
      guard try await cache.finds(token) else { exit(70) }
      if number == count || number.isMultiple(of: 1000) {
        writeLine("round \(number): \(residentMemory() / 1024) KB resident")
      }
    }
  }
}
