public import FoundationEssentials
import GLibSupport
public import TokenCache

/// The claims that a client requests in its tokens: the `claims` parameter of OpenID Connect Core 5.5.
///
/// For example:
///
/// ```swift
/// var claims = ClaimsRequest()
/// claims.request(
///   .init(
///     name: "acrs",
///     additionalInfo: .init(essential: true, value: "c1")),
///   for: .accessToken)
/// ```
public struct ClaimsRequest: Sendable, Hashable {
  /// The token that is to have a claim.
  public enum Target: String, Sendable, Hashable, CaseIterable {
    case idToken = "id_token"
    case accessToken = "access_token"
  }

  /// One requested claim.
  public struct Claim: Sendable, Hashable {
    public var name: String
    /// `nil` requests the claim without further members.
    public var additionalInfo: AdditionalInfo?

    public init(name: String, additionalInfo: AdditionalInfo? = nil) {
      self.name = name
      self.additionalInfo = additionalInfo
    }
  }

  /// The members of a requested claim.
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

  /// The requested claims by their names.
  private var claims: [Target: [String: Claim]] = [:]

  public init() {}

  /// Reads the JSON of a `claims` parameter.
  ///
  /// - Throws: ``ClaimsRequestError`` if it is not a JSON object, and for targets, claims and members of claims that
  ///   MSAL for iOS and macOS rejects.
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

  /// Whether no claim is requested.
  public var isEmpty: Bool { claims.values.allSatisfy(\.isEmpty) }

  /// The requested claims of one token, in the order of their names.
  public func claims(for target: Target) -> [Claim] {
    (claims[target] ?? [:]).values.sorted { $0.name < $1.name }
  }

  /// Requests a claim. This replaces an earlier request for it.
  public mutating func request(_ claim: Claim, for target: Target) {
    claims[target, default: [:]][claim.name] = claim
  }

  /// Removes the request for a claim.
  ///
  /// - Returns: Whether it was requested.
  @discardableResult
  public mutating func remove(_ name: String, for target: Target) -> Bool {
    claims[target]?.removeValue(forKey: name) != nil
  }

  /// Requests the client's capabilities, such as `cp1` for claims challenges, as the claim `xms_cc` of the access
  /// token.
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
  /// The error message of MSAL for iOS and macOS.
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
