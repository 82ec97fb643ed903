public import Foundation
import IdentityClient
import TokenCache

/// How a claim is asked for (OpenID Connect Core 5.5.1).
open class MSALIndividualClaimRequestAdditionalInfo: NSObject {
  /// Whether the program cannot do without the claim; a number other than 0 means that.
  open var essential: NSNumber?
  /// The value that the claim should have: a string, a number, or anything else that JSON can express.
  open var value: Any?
  /// The values that would do, the best first.
  open var values: [Any]?

  /// Says nothing yet.
  public override init() {}

  convenience init(_ info: ClaimsRequest.AdditionalInfo) {
    self.init()
    essential = info.essential.map { NSNumber(value: $0) }
    value = info.value?.object
    values = info.values?.map(\.object)
  }

  /// - Throws: An error in ``MSALErrorDomain`` for a value that JSON cannot express.
  func info() throws -> ClaimsRequest.AdditionalInfo {
    func json(_ value: Any) throws -> JSONValue {
      guard let json = JSONValue(value) else {
        throw NSError(
          .internalErrorInvalidParameter,
          "A claim cannot have a value of the type \(type(of: value)), which JSON does not know.")
      }
      return json
    }
    return ClaimsRequest.AdditionalInfo(
      essential: essential?.boolValue, value: try value.map(json), values: try values?.map(json))
  }
}
