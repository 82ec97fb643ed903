import FoundationEssentials
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
  /// - Throws: ``IdentityError`` with MSAL's message if it is not a JSON object, and for targets, claims and members of claims that
  ///   MSAL for iOS and macOS rejects.
  public init(json: String) throws(IdentityError) {
    guard let targets = try? JSONObject(foreign: Data(json.utf8), within: .response) else {
      throw IdentityError(.invalidParameter, "The claims request is not a JSON object.")
    }
    try self.init(targets)
  }

  /// Reads the members of a `claims` parameter.
  ///
  /// - Throws: ``IdentityError`` as ``init(json:)`` does.
  public init(_ targets: JSONObject) throws(IdentityError) {
    for (name, value) in targets.sorted(by: { $0.key < $1.key }) {
      guard let target = Target(rawValue: name) else {
        throw IdentityError(.invalidParameter, "Invalid claims target: \(name)")
      }
      guard let members = value.objectValue else {
        throw .type(of: name, allowed: "NSDictionary")
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
  /// - Throws: ``IdentityError`` for a value that JSON cannot represent, such as an infinite number.
  public func json() throws(IdentityError) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return String(decoding: try encoder.encode(members), as: UTF8.self)
    } catch {
      throw IdentityError(.invalidParameter, "A number in the claims request cannot be written as JSON.")
    }
  }
}

extension ClaimsRequest.AdditionalInfo {
  fileprivate init(_ members: JSONObject?, of claim: String) throws(IdentityError) {
    guard let members else { throw .type(of: claim, allowed: "NSDictionary") }
    switch members["essential"] {
    case nil: break
    case .bool(let isEssential): essential = isEssential
    case .integer, .decimal, .double: essential = members["essential"]?.numberValue != 0
    default: throw .type(of: "essential", allowed: "NSNumber")
    }
    value = members["value"]
    values = members["values"]?.arrayValue
    guard values != nil || members["values"] == nil else {
      throw .type(of: "values", allowed: "NSArray")
    }
    guard essential != nil || value != nil || values != nil else {
      throw IdentityError(.invalidParameter, "Failed to init claim additional info from json.")
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

extension IdentityError {
  /// With the error message of MSAL for iOS and macOS.
  fileprivate static func type(of name: String, allowed: String) -> IdentityError {
    IdentityError(
      .invalidParameter, "\(name) key in dictionary is not of expected type. Allowed types: \(allowed).")
  }
}
