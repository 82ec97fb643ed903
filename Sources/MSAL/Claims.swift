public import Foundation
import IdentityClient
import TokenCache

/// What an error is returned through in places where Objective-C has an out parameter and Swift does not throw.
/// Foundation has this name on Apple's systems only.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

/// What can be written as JSON.
public protocol MSALJsonSerializable: NSObjectProtocol {
  /// The JSON, or `nil` when there is no way to write it.
  func jsonString() -> String?
}

/// What can be read from JSON.
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

extension JSONValue {
  /// The value as `JSONSerialization` would have read it: numbers and booleans as `NSNumber`, so that both
  /// `as? Int` and `as? Double` succeed, and `NSNull` for `null`.
  var object: Any {
    switch self {
    case .null: NSNull()
    case .bool(let truth): NSNumber(value: truth)
    case .integer(let number): NSNumber(value: number)
    case .decimal(let number): NSDecimalNumber(decimal: number)
    case .double(let number): NSNumber(value: number)
    case .string(let text): text
    case .array(let elements): elements.map(\.object)
    case .object(let members): members.mapValues(\.object)
    }
  }

  /// Takes what `JSONSerialization` would write; `nil` for anything else.
  init?(_ object: Any) {
    switch object {
    case is NSNull: self = .null
    case let text as String: self = .string(text)
    case let number as NSNumber: self.init(number: number)
    case let elements as [Any]:
      var values: [JSONValue] = []
      for element in elements {
        guard let value = JSONValue(element) else { return nil }
        values.append(value)
      }
      self = .array(values)
    case let members as [String: Any]:
      var values: JSONObject = [:]
      for (name, member) in members {
        guard let value = JSONValue(member) else { return nil }
        values[name] = value
      }
      self = .object(values)
    default: return nil
    }
  }

  private init?(number: NSNumber) {
    // Booleans are numbers of a class of their own.
    if type(of: number) == type(of: NSNumber(value: true)) {
      self = .bool(number.boolValue)
    } else if let integer = Int64(exactly: number) {
      self = .integer(integer)
    } else if number.doubleValue.isFinite {
      self = number is NSDecimalNumber ? .decimal(number.decimalValue) : .double(number.doubleValue)
    } else {
      return nil
    }
  }
}
