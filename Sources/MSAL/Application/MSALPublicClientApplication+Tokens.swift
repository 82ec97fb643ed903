public import Foundation
import IdentityClient

extension MSALPublicClientApplication {
  /// Gets a token by having the person sign in, in the system's browser.
  ///
  /// The block is called on the main queue unless the parameters name another one.
  @preconcurrency
  public func acquireToken(
    with parameters: MSALInteractiveTokenParameters,
    completionBlock: @escaping @Sendable (MSALResult?, (any Error)?) -> Void
  ) {
    complete(on: parameters.completionBlockQueue ?? .main, completionBlock) {
      try InteractiveRequest(parameters, $0.client.configuration)
    } work: {
      try await $0.result(of: $1)
    }
  }
}
