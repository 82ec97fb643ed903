public import Foundation
import IdentityClient
import TokenCache

/// The claims that a program asks the server to put into tokens (OpenID Connect Core 5.5), or that a resource
/// demanded by a claims challenge.
///
/// For example, to answer the challenge of a resource:
///
/// ```swift
/// parameters.claimsRequest = try MSALClaimsRequest(jsonString: challenge)
/// ```
open class MSALClaimsRequest: NSObject, MSALJsonSerializable, MSALJsonDeserializable {
  private(set) var request = ClaimsRequest()

  /// Asks for nothing yet.
  public override init() {}

  /// Reads the JSON of a `claims` parameter.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` for what is no claims request, and one in `NSCocoaErrorDomain` for what
  ///   is no JSON.
  public convenience init(jsonString: String) throws {
    self.init()
    request = try Self.read(jsonString)
  }

  /// Reads the JSON of a `claims` parameter, with the signature that Objective-C's has in Swift.
  ///
  /// - Parameters:
  ///   - jsonString: The JSON.
  ///   - error: Where an error is stored; the object then asks for nothing.
  public required init(jsonString: String, error: NSErrorPointer) {
    do {
      request = try Self.read(jsonString)
    } catch let problem as NSError {
      // The caller vouches for the pointer, as with every function that has one.
      unsafe error?.pointee = problem
    }
  }

  private static func read(_ json: String) throws -> ClaimsRequest {
    do {
      return try ClaimsRequest(json: json)
    } catch {
      // What is no JSON at all gets the JSON reader's own error (NSCocoaErrorDomain 3840), as in MSAL.
      _ = try JSONSerialization.jsonObject(with: Data(json.utf8))
      throw NSError(error)
    }
  }

  /// Asks for a claim, in place of an earlier request for the same one. Later changes of the object that is
  /// passed change nothing here.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` for a value that JSON cannot express.
  open func requestClaim(_ request: MSALIndividualClaimRequest, for target: MSALClaimsRequestTarget) throws {
    self.request.request(try request.claim(), for: target.target)
  }

  /// Asks for a claim no more.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` when it was not asked for.
  open func removeClaim(withName name: String, target: MSALClaimsRequestTarget) throws {
    guard request.remove(name, for: target.target) else {
      throw NSError(
        .internalErrorInvalidParameter,
        "The claim \(name) is not asked for in \(target.target.rawValue).")
    }
  }

  /// What is asked for in one token; `nil` when nothing is.
  open func claimsRequests(for target: MSALClaimsRequestTarget) -> [MSALIndividualClaimRequest]? {
    let claims = request.claims(for: target.target)
    return claims.isEmpty ? nil : claims.map { MSALIndividualClaimRequest($0) }
  }

  /// The `claims` parameter: compact JSON with sorted keys, `{}` when nothing is asked for.
  open func jsonString() -> String? { try? request.json() }
}
