import Foundation
import KeyringStore
import LabSupport
import SecretService

/// Tokens bound to a key, from the sign-in to the API that checks them, with the key in a keyring.
@Suite(.lab, .serialized, .timeLimit(.minutes(20)))
struct PopTests {
  private let lab = Lab.current

  private func keyringStore(_ keyring: PrivateKeyring) -> KeyringCacheStore {
    KeyringCacheStore(
      SecretServiceConnection(busAddress: keyring.busAddress), timeout: .seconds(120),
      environment: keyring.environment)
  }

  @Test func `Bound tokens of each grant are taken by an API that takes no others`() async throws {
    let keyring = try PrivateKeyring()
    let test = try LabClient(store: keyringStore(keyring))
    let scheme = try test.popScheme()
    let signedIn = try await test.signIn { $0.authenticationScheme = scheme }
    #expect(try await test.protected(signedIn) == (200, nil))
    #expect(signedIn.cacheError == nil)

    let cached = try await test.silent(signedIn.account) { $0.authenticationScheme = scheme }
    #expect(cached.source == .cache)
    #expect(cached.accessToken != signedIn.accessToken)
    #expect(try await test.protected(cached) == (200, nil))

    let renewed = try await test.silent(signedIn.account) {
      $0.authenticationScheme = scheme
      $0.forceRefresh = true
    }
    #expect(renewed.source == .network)
    #expect(try await test.protected(renewed) == (200, nil))

    var device = DeviceCodeRequest(scopes: ["User.Read"]) { code in
      #expect(throws: Never.self) { try lab.approveDevice(userCode: code.userCode, as: "bob") }
    }
    device.authenticationScheme = scheme
    #expect(try await test.protected(test.client.acquireToken(device)) == (200, nil))

    // A program that comes later, with the same key from the keyring.
    let later = try LabClient(store: keyringStore(keyring))
    let found = try await later.silent(signedIn.account) { $0.authenticationScheme = scheme }
    #expect(found.source == .cache)
    #expect(try await later.protected(found) == (200, nil))
  }

  @Test func `A signed request is good for one request, with its method, path and nonce`() async throws {
    let test = try LabClient()
    let account = try await test.signIn { $0.authenticationScheme = try? test.popScheme() }.account
    func result(_ scheme: PopScheme) async throws -> AuthenticationResult {
      try await test.silent(account) { $0.authenticationScheme = scheme }
    }
    let once = try await result(test.popScheme())
    #expect(try await test.protected(once) == (200, nil))
    #expect(try await test.protected(once) == (401, "nonce"))
    #expect(try await test.protected(result(test.popScheme()), path: "/other") == (401, "path"))
    #expect(try await test.protected(result(test.popScheme()), method: .post) == (401, "method"))
    let elsewhere = try #require(URL(string: "https://api.contoso.test/protected/orders"))
    let other = try await result(PopScheme(httpMethod: "GET", url: elsewhere))
    #expect(try await test.protected(other) == (401, "host"))
    for path in ["/a%20b/%C3%A9", "/orders/", ""] {
      let answer = try await test.protected(result(test.popScheme(path)), path: path)
      #expect(answer == (200, nil), "\(path)")
    }

    lab.configure { $0.popNonce = "wanted" }
    #expect(try await test.protected(result(test.popScheme())) == (401, "nonce"))
    #expect(try await test.protected(result(test.popScheme(nonce: "wanted"))) == (200, nil))
    lab.configure { $0.clockSkew = 1200 }
    #expect(try await test.protected(result(test.popScheme(nonce: "wanted"))) == (401, "time"))
  }

  @Test func `Both sides distinguish bearer and bound tokens`() async throws {
    let test = try LabClient()
    let scheme = try test.popScheme()
    let account = try await test.signIn { $0.authenticationScheme = scheme }.account
    let bearer = try await test.silent(account)
    #expect(bearer.source == .network)
    #expect(try await test.graph(bearer).head.status.code == 200)
    #expect(try await test.protected(bearer) == (401, "scheme"))
    let bound = try await test.silent(account) { $0.authenticationScheme = scheme }
    #expect(bound.source == .cache)
    #expect(try await test.graph(bound).head.status.code == 401)
    #expect(try await test.protected(bound) == (200, nil))
  }

  @Test(.fault("PoP key lost")) func `A lost key is replaced, and the token renewed silently`() async throws {
    let keyring = try PrivateKeyring()
    let test = try LabClient(store: keyringStore(keyring))
    let scheme = try test.popScheme()
    let account = try await test.signIn { $0.authenticationScheme = scheme }.account
    let before = try await test.recordCount()
    _ = try await test.cache.savePopKey("damaged") { _ in false }
    let later = try LabClient(store: keyringStore(keyring))
    let result = try await later.silent(account) { $0.authenticationScheme = scheme }
    #expect(result.source == .network)
    #expect(try await later.protected(result) == (200, nil))
    #expect(try await later.recordCount() == before)
  }
}
