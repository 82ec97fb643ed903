import IdentityClient
import TokenCache

/// The token that a claim is asked for.
public enum MSALClaimsRequestTarget: UInt, Sendable {
  case idToken = 0
  case accessToken = 1

  var target: ClaimsRequest.Target {
    switch self {
    case .idToken: .idToken
    case .accessToken: .accessToken
    }
  }
}
