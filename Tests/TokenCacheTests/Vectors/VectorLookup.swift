import Foundation
import TestSupport

@testable import TokenCache

extension CredentialQuery {
  /// Asks the accessor as well, where that can ask for the same: both find the same.
  func compareWithAccessor(in document: CacheDocument) async throws {
    guard let id = fields["homeAccountId"], let clientID = fields["clientId"], fields["familyId"] == nil,
      let environment = fields["environment"] ?? fields.environmentAliases.first
    else { return }
    let aliases = CloudInstance(
      preferredNetwork: environment, preferredCache: environment,
      aliases: fields.environmentAliases.isEmpty ? [environment] : fields.environmentAliases)
    let cache = TokenCacheAccessor(store: InMemoryStore(), clouds: CloudInstances([aliases])) {
      JSONValue.vectorNow
    }
    _ = try await cache.import(document)
    var wanted = self
    wanted.targetMatching = .subset
    // A token with an authentication scheme is of no use without its key, which some test values do not name.
    let expected = document.credentials(matching: wanted)
      .filter { $0.credentialType.section != .accessToken || AccessToken($0) != nil }.compactMap(\.secret)
    let scheme: AuthenticationScheme =
      credentialType == .accessToken ? .bearer : .bound(tokenType: fields["tokenType"] ?? "", keyID: "")
    let request = TokenLookup(
      homeAccountID: id, environment: environment, clientID: clientID, realm: fields["realm"],
      scopes: (fields["target"] ?? "").split(separator: " ").map(String.init), scheme: scheme,
      requestedClaims: fields["requestedClaims"], applicationIdentifier: fields["applicationIdentifier"])
    switch credentialType {
    case .accessToken, .accessTokenWithAuthScheme:
      // Our lookups without claims find the tokens of others, too.
      let hasOtherClaims = document.accessTokens.values.contains { $0.requestedClaims != nil }
      guard let realm = fields["realm"], fields["requestedClaims"] != nil || !hasOtherClaims else { return }
      try await addOwner(id, environment, realm, to: cache)
      let found = try await cache.accessToken(for: request, expirationBuffer: 0)?.token.secret
      try expectEqual("whether there is a token", found == nil, expected.isEmpty)
      try expectEqual("whether it is one of those", found.map(expected.contains) ?? true, true)
    case .refreshToken:
      let found = try await cache.refreshTokens(for: request).map(\.secret)
      try expectEqual("the refresh tokens", Set(found).isSuperset(of: expected), true)
    case .idToken:
      guard fields["realm"] != nil, fields["target"] == nil else { return }
      let found = try await cache.idToken(for: request)?.secret
      try expectEqual("whether there is an ID token", found == nil, expected.isEmpty)
    default: break
    }
  }

  /// An access token is found only together with an account, which the test values do not have.
  private func addOwner(
    _ id: String, _ environment: String, _ realm: String, to cache: TokenCacheAccessor
  ) async throws {
    _ = try await cache.import(
      CacheDocument([
        .account(id, key: "owner", host: environment, realm: realm)
      ]))
  }
}
