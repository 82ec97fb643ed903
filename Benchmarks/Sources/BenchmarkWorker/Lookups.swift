import FoundationEssentials
import Glibc
import HTTPSupport
import IdentityClient
import TokenCache

/// Looks up tokens of all accounts in turn, with one of the scopes that each was granted.
struct Lookups {
  private let cache: TokenCacheAccessor
  private let client: PublicClient
  private let accounts: [Account]
  private let requests: [TokenLookup]

  init(_ cache: TokenCacheAccessor) async throws {
    self.cache = cache
    client = PublicClient(
      configuration: ClientConfiguration(clientID: SampleToken.clientID), cache: cache,
      transport: NoTransport())
    accounts = try await cache.accounts(AccountFilter(clientID: SampleToken.clientID))
    requests = accounts.map { account in
      TokenLookup(
        homeAccountID: account.homeAccountID, environment: SampleToken.environment,
        clientID: SampleToken.clientID, realm: "common", scopes: [Self.scope])
    }
    // What is looked up for the first time is read first.
    for request in requests { _ = try await cache.accessToken(for: request) }
  }

  /// One of the scopes of each account's third token.
  private static let scope = "api://resource2/Read"

  /// How many seconds one lookup in the cache takes, measured for a number of seconds.
  func lookups(_ duration: Double) async throws -> Double {
    try await each(duration) { number in
      guard try await cache.accessToken(for: requests[number])?.condition == .valid else { exit(70) }
    }
  }

  /// How many seconds one silent call takes that is answered from the cache, measured for a number of seconds.
  func silent(_ duration: Double) async throws -> Double {
    try await each(duration) { number in
      let request = SilentRequest(scopes: [Self.scope], account: accounts[number])
      guard try await client.acquireTokenSilent(request).source == .cache else { exit(70) }
    }
  }

  private func each(_ duration: Double, _ body: (Int) async throws -> Void) async throws -> Double {
    var (number, count, time) = (0, 0, 0.0)
    while time < duration {
      time += try await seconds {
        for _ in 0..<100 {
          try await body(number)
          number = number + 1 < accounts.count ? number + 1 : 0
        }
      }
      count += 100
    }
    return time / Double(count)
  }
}

private struct NoTransport: HTTPTransport {
  func send(_ request: HTTPTransportRequest) async throws(HTTPTransportError) -> HTTPTransportResponse {
    exit(70)
  }
}
