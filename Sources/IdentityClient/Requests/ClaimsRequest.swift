public import FoundationEssentials
import GLibSupport
public import TokenCache

/// Which claims a client asks the server to put into tokens: the `claims` parameter of OpenID Connect Core
/// 5.5.
public struct ClaimsRequest: Sendable, Hashable {
  /// The token that a claim is asked for.
  public enum Target: String, Sendable, Hashable, CaseIterable {
    case idToken = "id_token"
    case accessToken = "access_token"
  }

  /// One claim that is asked for.
  public struct Claim: Sendable, Hashable {
    public var name: String
    /// `nil` asks for the claim in the default manner.
    public var additionalInfo: AdditionalInfo?

    public init(name: String, additionalInfo: AdditionalInfo? = nil) {
      self.name = name
      self.additionalInfo = additionalInfo
    }
  }

  /// How a claim is asked for.
  public struct AdditionalInfo: Sendable, Hashable {
    public var essential: Bool?
    public var value: JSONValue?
    public var values: [JSONValue]?

    public init(essential: Bool? = nil, value: JSONValue? = nil, values: [JSONValue]? = nil) {
      self.essential = essential
      self.value = value
      self.values = values
    }
  }

  /// By their names.
  private var claims: [Target: [String: Claim]] = [:]

  public init() {}

  /// Reads the JSON of a `claims` parameter.
  ///
  /// - Throws: ``ClaimsRequestError`` when it is not a JSON object, and for targets, claims and members of
  ///   claims that MSAL for iOS and macOS refuses.
  public init(json: String) throws(ClaimsRequestError) {
    guard let targets = try? JSONObject(foreign: Data(json.utf8), within: .response) else {
      throw ClaimsRequestError(.notJSON, "The claims request is not a JSON object.")
    }
    try self.init(targets)
  }

  /// Reads the members of a `claims` parameter.
  ///
  /// - Throws: ``ClaimsRequestError`` as ``init(json:)`` does.
  public init(_ targets: JSONObject) throws(ClaimsRequestError) {
    for (name, value) in targets.sorted(by: { $0.key < $1.key }) {
      guard let target = Target(rawValue: name) else {
        throw ClaimsRequestError(.invalid, "Invalid claims target: \(name)")
      }
      guard let members = value.objectValue else {
        throw ClaimsRequestError.type(of: name, allowed: "NSDictionary")
      }
      for (name, value) in members.sorted(by: { $0.key < $1.key }) {
        let info = value == .null ? nil : try AdditionalInfo(value.objectValue, of: name)
        request(Claim(name: name, additionalInfo: info), for: target)
      }
    }
  }

  /// Whether nothing is asked for.
  public var isEmpty: Bool { claims.values.allSatisfy(\.isEmpty) }

  /// What is asked for in one token, in the order of the names.
  public func claims(for target: Target) -> [Claim] {
    (claims[target] ?? [:]).values.sorted { $0.name < $1.name }
  }

  /// Asks for a claim, in place of an earlier request for the same one.
  public mutating func request(_ claim: Claim, for target: Target) {
    claims[target, default: [:]][claim.name] = claim
  }

  /// Asks for a claim no more.
  ///
  /// - Returns: Whether it was asked for.
  @discardableResult
  public mutating func remove(_ name: String, for target: Target) -> Bool {
    claims[target]?.removeValue(forKey: name) != nil
  }

  /// Tells the server what the client can deal with, such as `cp1` for claims challenges, by the claim
  /// `xms_cc` of the access token.
  public mutating func requestCapabilities(_ capabilities: [String]) {
    guard !capabilities.isEmpty else { return }
    let info = AdditionalInfo(values: capabilities.map(JSONValue.string))
    request(Claim(name: "xms_cc", additionalInfo: info), for: .accessToken)
  }

  /// The members of the `claims` parameter.
  public var members: JSONObject {
    var targets: JSONObject = [:]
    for (target, claims) in claims where !claims.isEmpty {
      targets[target.rawValue] = .object(claims.mapValues { $0.additionalInfo?.json ?? .null })
    }
    return targets
  }

  /// The `claims` parameter: compact JSON with sorted keys.
  ///
  /// - Throws: ``ClaimsRequestError`` for a value that JSON cannot represent, such as an infinite number.
  public func json() throws(ClaimsRequestError) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return String(decoding: try encoder.encode(members), as: UTF8.self)
    } catch {
      throw ClaimsRequestError(.invalid, "A number in the claims request cannot be written as JSON.")
    }
  }
}

extension ClaimsRequest.AdditionalInfo {
  fileprivate init(_ members: JSONObject?, of claim: String) throws(ClaimsRequestError) {
    guard let members else { throw ClaimsRequestError.type(of: claim, allowed: "NSDictionary") }
    switch members["essential"] {
    case nil: break
    case .bool(let isEssential): essential = isEssential
    case .integer, .decimal, .double: essential = members["essential"]?.numberValue != 0
    default: throw ClaimsRequestError.type(of: "essential", allowed: "NSNumber")
    }
    value = members["value"]
    values = members["values"]?.arrayValue
    guard values != nil || members["values"] == nil else {
      throw ClaimsRequestError.type(of: "values", allowed: "NSArray")
    }
    guard essential != nil || value != nil || values != nil else {
      throw ClaimsRequestError(.invalid, "Failed to init claim additional info from json.")
    }
  }

  fileprivate var json: JSONValue {
    var members: JSONObject = [:]
    members["essential"] = essential.map(JSONValue.bool)
    members["value"] = value
    members["values"] = values.map(JSONValue.array)
    return .object(members)
  }
}

/// Why a text is not a claims request.
public struct ClaimsRequestError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
  public enum Code: Sendable, Hashable {
    /// The text is not a JSON object.
    case notJSON
    /// A part of it is unknown or of the wrong type.
    case invalid
  }

  public let code: Code
  /// What is wrong, in the words of MSAL for iOS and macOS.
  public let description: String
  public var errorDescription: String? { sentences(description) }

  init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }

  static func type(of name: String, allowed: String) -> ClaimsRequestError {
    ClaimsRequestError(
      .invalid, "\(name) key in dictionary is not of expected type. Allowed types: \(allowed).")
  }
}
