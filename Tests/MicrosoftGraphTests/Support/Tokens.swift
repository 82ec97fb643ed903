import Foundation
import IdentityClient
import TokenCache

extension AuthenticationResult {
  /// A token that no server issued.
  static func made(
    authority: Authority = .default, tenant: String = "22222222-2222-2222-2222-222222222222",
    token: String = "made-up-token"
  ) -> AuthenticationResult {
    AuthenticationResult(
      accessToken: token, expiresOn: nil, scopes: ["User.Read"], idToken: nil, claims: nil,
      account: Account(
        homeAccountID: "a11ce.\(tenant)", username: nil, environment: authority.host, tenantProfiles: []),
      tenantProfile: nil, authority: authority, correlationID: UUID(), source: .cache)
  }
}
