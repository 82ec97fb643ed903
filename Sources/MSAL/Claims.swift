public import Foundation
import IdentityClient
import TokenCache

/// An out parameter for errors, as in Objective-C. Foundation has this name on Apple's systems only.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

/// A type that can be written as JSON.
public protocol MSALJsonSerializable: NSObjectProtocol {
  /// The JSON, or `nil` if it cannot be written.
  func jsonString() -> String?
}

/// A type that can be read from JSON.
public protocol MSALJsonDeserializable: NSObjectProtocol {
  /// Reads the JSON. If that fails, the object is empty and the error is stored where `error` points to.
  init(jsonString: String, error: NSErrorPointer)
}

/// The claims that a program asks the server to put into tokens (OpenID Connect Core 5.5), or that a resource
/// demanded by a claims challenge.
///
/// For example, to answer the challenge of a resource:
///
/// ```swift
/// parameters.claimsRequest = try MSALClaimsRequest(
///   jsonString: challenge)
/// ```
open class MSALClaimsRequest: NSObject, MSALJsonSerializable, MSALJsonDeserializable {
  private(set) var request = ClaimsRequest()

  /// Makes an empty request.
  public override init() {}

  /// Reads the JSON of a `claims` parameter.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` for an invalid claims request, and one in `NSCocoaErrorDomain` for
  ///   invalid JSON.
  public convenience init(jsonString: String) throws {
    self.init()
    request = try Self.read(jsonString)
  }

  /// Reads the JSON of a `claims` parameter, with the signature that Objective-C's has in Swift. If that fails, the request is
  /// empty and the error is stored where `error` points to.
  public required init(jsonString: String, error: NSErrorPointer) {
    do {
      request = try Self.read(jsonString)
    } catch let problem as NSError {
      // The caller guarantees that the pointer is valid.
      unsafe error?.pointee = problem
    }
  }

  private static func read(_ json: String) throws -> ClaimsRequest {
    do {
      return try ClaimsRequest(json: json)
    } catch {
      // Invalid JSON gets the JSON reader's own error (NSCocoaErrorDomain 3840), as in MSAL.
      _ = try JSONSerialization.jsonObject(with: Data(json.utf8))
      throw NSError(.internalErrorInvalidParameter, error.message)
    }
  }

  /// Adds a claim, in place of an earlier request for the same one. The object is copied.
  ///
  /// - Throws: An error in ``MSALErrorDomain`` for a value that JSON cannot express.
  open func requestClaim(_ request: MSALIndividualClaimRequest, for target: MSALClaimsRequestTarget) throws {
    self.request.request(try request.claim(), for: target.target)
  }

  /// Removes a claim.
  ///
  /// - Throws: An `NSError` when it is not in the request, in Foundation's domain for that as
  ///   ``MSALPublicClientApplication/account(forIdentifier:)`` does.
  open func removeClaim(withName name: String, target: MSALClaimsRequestTarget) throws {
    guard request.remove(name, for: target.target) else {
      throw NSError.notFound("The claim \(name) is not requested in \(target.target.rawValue).")
    }
  }

  /// The claims for one token; `nil` without any.
  open func claimsRequests(for target: MSALClaimsRequestTarget) -> [MSALIndividualClaimRequest]? {
    let claims = request.claims(for: target.target)
    return claims.isEmpty ? nil : claims.map { MSALIndividualClaimRequest($0) }
  }

  /// The `claims` parameter: compact JSON with sorted keys, `{}` for an empty request.
  open func jsonString() -> String? { try? request.json() }
}

/// The token that a claim is requested in.
public enum MSALClaimsRequestTarget: UInt, Sendable {
  case idToken = 0
  case accessToken = 1

  var target: ClaimsRequest.Target { self == .idToken ? .idToken : .accessToken }
}

/// A request for one claim.
open class MSALIndividualClaimRequest: NSObject {
  /// The claim, such as `email`.
  open var name: String
  /// How it is requested; `nil` for the default.
  open var additionalInfo: MSALIndividualClaimRequestAdditionalInfo?

  /// Makes a request with the default.
  public init(name: String) { self.name = name }

  convenience init(_ claim: ClaimsRequest.Claim) {
    self.init(name: claim.name)
    additionalInfo = claim.additionalInfo.map { MSALIndividualClaimRequestAdditionalInfo($0) }
  }

  func claim() throws -> ClaimsRequest.Claim {
    ClaimsRequest.Claim(name: name, additionalInfo: try additionalInfo?.info())
  }

  /// Whether the object requests a claim of the same name.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? MSALIndividualClaimRequest)?.name == name
  }

  open override var hash: Int { name.hashValue }
}

/// How a claim is requested (OpenID Connect Core 5.5.1).
open class MSALIndividualClaimRequestAdditionalInfo: NSObject {
  /// Whether the claim is essential; a number other than 0 is true.
  open var essential: NSNumber?
  /// The requested value: a string, a number, or another JSON value.
  open var value: Any?
  /// The accepted values, the best first.
  open var values: [Any]?

  /// Makes an empty object.
  public override init() {}

  convenience init(_ info: ClaimsRequest.AdditionalInfo) {
    self.init()
    essential = info.essential.map { NSNumber(value: $0) }
    value = info.value?.object
    values = info.values?.map(\.object)
  }

  func info() throws -> ClaimsRequest.AdditionalInfo {
    func json(_ value: Any) throws -> JSONValue {
      guard let json = JSONValue(value) else {
        throw NSError(
          .internalErrorInvalidParameter,
          "Invalid value of a claim: JSON cannot express the type \(type(of: value)).")
      }
      return json
    }
    return ClaimsRequest.AdditionalInfo(
      essential: essential?.boolValue, value: try value.map(json), values: try values?.map(json))
  }
}

extension JSONValue {
  /// The value as `JSONSerialization` reads it: numbers and booleans as `NSNumber`, so that both
  /// `as? Int` and `as? Double` succeed, and `NSNull` for `null`.
  var object: Any {
    guard let json = try? JSONEncoder().encode(self),
      let object = try? JSONSerialization.jsonObject(with: json, options: .fragmentsAllowed)
    else { return NSNull() }
    return object
  }

  /// Makes a value that `JSONSerialization` can write; `nil` for any other.
  init?(_ object: Any) {
    guard JSONSerialization.isValidJSONObject([object]),
      let json = try? JSONSerialization.data(withJSONObject: object, options: .fragmentsAllowed),
      let value = try? JSONValue(foreign: json, within: .response)
    else { return nil }
    self = value
  }
}
