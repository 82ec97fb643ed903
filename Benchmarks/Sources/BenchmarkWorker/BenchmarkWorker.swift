import BareCalls
import EncryptedFileStore
import EtcdStore
import FoundationEssentials
import Glibc
import HTTPSupport
import HTTPTypes
import IdentityClient
import KeyringStore
import Sealing
import SoupTransport
import TokenCache

/// Does what each line of standard input says and answers with one line of numbers: how many seconds one
/// operation took, unless said otherwise. `measure.py` decides what is done, how often and in which order. The
/// cache is in the keyring, or in encrypted files whose key is in the file that the command line names, or in etcd, whose
/// endpoints it names next, and then `check` where every lookup is to ask.
///
/// - `import <file>`: takes a serialized cache into the group.
/// - `save <response>`: saves a token response, given as JSON.
/// - `saves <file>`: saves as many responses as the file has lines; how many seconds all of them took.
/// - `renew <response>`: renews tokens of the response's account, which the authority answers with it.
/// - `accounts`: lists all accounts with nothing in memory.
/// - `lookups <seconds>` and `silent <seconds>`: finds tokens of all accounts in turn for so long.
/// - `check <count>`: asks whether the group has changed.
/// - `find <response>`: whether the token of a response is found; 1 or 0.
/// - `decode <file>` and `encode <file>`: reads and writes a document.
/// - `bare-create <file>`, `bare-save`, `bare-accounts`, `bare-files <file>`: the plain calls to compare with.
/// - `memory`: the largest amount of memory the process has had, in bytes.
@main
struct BenchmarkWorker {
  static let group = "org.llavero.benchmark"
  let store: any CacheStore
  let cache: TokenCacheAccessor
  private let bare = BareItems()
  private var lookups: Lookups?

  static func main() async throws {
    var worker = try Self()
    print("ready")
    fflush(nil)
    while let line = readLine() {
      let words = line.split(separator: " ", maxSplits: 1).map(String.init)
      let answer = try await worker.run(words[0], words.count > 1 ? words[1] : "")
      print(answer.map { "\($0)" }.joined(separator: " "))
      fflush(nil)
    }
  }

  private init() throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    store =
      switch arguments.count {
      case 0: KeyringCacheStore()
      case 1: EncryptedFileCacheStore(key: .keyFile(path: arguments[0]))
      default:
        try EtcdCacheStore(
          endpoints: arguments[1].split(separator: ",").map(String.init), prefix: "/benchmark",
          key: .keyFile(path: arguments[0]),
          transport: SoupHTTPTransport(environment: [:], allowsLoopbackHTTP: true),
          checksEveryLookup: arguments.count > 2)
      }
    cache = TokenCacheAccessor(store: store, group: try KeychainGroup(Self.group))
  }

  private mutating func run(_ command: String, _ argument: String) async throws -> [Double] {
    switch command {
    case "import":
      let document = try CacheDocument(json: Self.contents(of: argument))
      return [try await seconds { _ = try await cache.import(document) }]
    case "save":
      let token = try SampleToken(response: argument)
      return [try await seconds { try await cache.save(token.response, for: token.request) }]
    case "saves":
      let tokens = try Self.contents(of: argument).split(separator: UInt8(ascii: "\n"))
        .map { try SampleToken(response: String(decoding: $0, as: UTF8.self)) }
      return [
        try await seconds {
          for token in tokens { try await cache.save(token.response, for: token.request) }
        }
      ]
    case "renew":
      let response = try SampleToken(response: argument)
      let account = try await cache.accounts(AccountFilter(clientID: SampleToken.clientID))
        .first { $0.homeAccountID == response.lookup.homeAccountID }
      guard let account else { exit(70) }
      let client = PublicClient(
        configuration: ClientConfiguration(clientID: SampleToken.clientID), cache: cache,
        transport: OneAnswer(response: argument))
      let scopes = Array(response.lookup.scopes.scopes)
      let request = SilentRequest(scopes: scopes, account: account, forceRefresh: true)
      return [
        try await seconds {
          guard try await client.acquireTokenSilent(request).source != .cache else { exit(70) }
        }
      ]
    case "accounts":
      let fresh = TokenCacheAccessor(store: store, group: cache.group)
      return [
        try await seconds { _ = try await fresh.accounts(AccountFilter(clientID: SampleToken.clientID)) }
      ]
    case "lookups":
      return [try await prepared().lookups(Double(argument) ?? 0)]
    case "silent":
      return [try await prepared().silent(Double(argument) ?? 0)]
    case "check":
      let count = Int(argument) ?? 0
      var last: UInt64?
      let time = seconds { for _ in 0..<count { last = store.generation(of: cache.group) } }
      guard last != nil else { exit(70) }
      return [time / Double(count)]
    case "find":
      let token = try SampleToken(response: argument)
      let found = try await cache.accessToken(for: token.lookup)?.token.secret
      return [found == token.response.accessToken ? 1 : 0]
    case "decode":
      let json = try Self.contents(of: argument)
      // Kept, so that taking it apart again is not measured.
      var document: CacheDocument?
      let time = try seconds { document = try CacheDocument(json: json) }
      guard document?.isEmpty == false else { exit(70) }
      return [time]
    case "encode":
      let document = try CacheDocument(json: Self.contents(of: argument))
      return [try seconds { _ = try document.json() }]
    case "bare-create":
      let parts = try Self.contents(of: argument).split(separator: UInt8(ascii: "\n")).map(Array.init)
      return [seconds { bare.create(parts) }]
    case "bare-save":
      return [seconds { bare.getAndSet() }]
    case "bare-accounts":
      return [seconds { bare.readAll(Self.group) }]
    case "bare-files":
      let parts = try Self.contents(of: argument).split(separator: UInt8(ascii: "\n")).map(Array.init)
      return [seconds { writeFiles(parts) }]
    case "memory":
      var usage = rusage()
      getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
      return [Double(usage.ru_maxrss) * 1024]
    default: exit(64)
    }
  }

  private mutating func prepared() async throws -> Lookups {
    if let lookups { return lookups }
    let made = try await Lookups(cache)
    lookups = made
    return made
  }

  private static func contents(of path: String) throws -> Data {
    try Data(contentsOf: URL(filePath: path))
  }
}

/// An authority that answers each request, also that for its metadata, with the same JSON.
private struct OneAnswer: HTTPTransport {
  let response: String

  func send(_ request: HTTPTransportRequest) async throws(HTTPTransportError) -> HTTPTransportResponse {
    HTTPTransportResponse(HTTPResponse(status: .ok), body: Data(response.utf8))
  }
}

/// How many seconds `body` takes.
func seconds(_ body: () throws -> Void) rethrows -> Double {
  let start = ContinuousClock.now
  try body()
  return (ContinuousClock.now - start) / .seconds(1)
}

/// How many seconds `body` takes.
func seconds(_ body: () async throws -> Void) async rethrows -> Double {
  let start = ContinuousClock.now
  try await body()
  return (ContinuousClock.now - start) / .seconds(1)
}
