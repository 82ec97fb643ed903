public import Foundation
import IdentityClient
import TokenCache

/// One claim that is asked for.
open class MSALIndividualClaimRequest: NSObject {
  /// The claim, such as `email`.
  open var name: String
  /// How it is asked for; `nil` asks in the default manner.
  open var additionalInfo: MSALIndividualClaimRequestAdditionalInfo?

  /// Asks for a claim in the default manner.
  public init(name: String) {
    self.name = name
  }

  convenience init(_ claim: ClaimsRequest.Claim) {
    self.init(name: claim.name)
    additionalInfo = claim.additionalInfo.map { MSALIndividualClaimRequestAdditionalInfo($0) }
  }

  /// - Throws: An error in ``MSALErrorDomain`` for a value that JSON cannot express.
  func claim() throws -> ClaimsRequest.Claim {
    ClaimsRequest.Claim(name: name, additionalInfo: try additionalInfo?.info())
  }

  /// Whether the object asks for a claim of the same name.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? MSALIndividualClaimRequest)?.name == name
  }

  open override var hash: Int { name.hashValue }
}
