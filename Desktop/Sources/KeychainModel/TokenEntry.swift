public import Configuration
public import FoundationEssentials
import Localization
public import TokenCache

/// What the window shows of one token: never the token itself.
public struct TokenEntry: Sendable, Hashable, Identifiable {
  /// Where the token is: its section of the cache and its key there.
  public struct ID: Sendable, Hashable {
    public let section: CredentialSection
    public let key: String

    public init(section: CredentialSection, key: String) {
      self.section = section
      self.key = key
    }
  }

  public let id: ID
  /// The kind of token, in words.
  public let kind: String
  /// What the token is for: the API of an access token, else its kind.
  public let title: String
  /// What the tool lists, too.
  public let summary: RecordSummary
  public let tenantID: String?
  /// In the server's words and order.
  public let scopes: [String]
  /// Until when the token serves while the token service is down.
  public let extendedExpiresOn: Date?
  /// The claims that it was requested with, in JSON.
  private let claims: String?
  /// Whether it is an access token that a call for a bearer token can return.
  let serves: Bool
  /// Whether the account has a record, and a refresh token that the client may use and no server has refused.
  public let isRenewable: Bool
  private let refusal: Refusal?
  /// The name of the app, where that is known.
  let appName: String?

  init(
    _ section: CredentialSection, key: String, _ credential: Credential, isRenewable: Bool,
    refusal: Refusal? = nil, clientNames: [String: String] = [:]
  ) {
    appName = KnownNames.app(credential.clientID, own: clientNames)
    id = ID(section: section, key: key)
    kind = credential.credentialType.words
    summary = RecordSummary(section, key: key, credential)
    tenantID = section == .refreshToken ? nil : credential.realm
    scopes = ScopeSet.list(credential.target ?? "")
    claims = credential.requestedClaims
    title = section == .accessToken && !scopes.isEmpty ? printable(KnownNames.api(of: scopes)) : kind
    let isAccessToken = section == .accessToken && credential.credentialType.section == .accessToken
    extendedExpiresOn = isAccessToken ? credential.extendedExpiresOn : nil
    serves = AccessToken(credential)?.serves() ?? false
    self.isRenewable = isRenewable && serves && refusal == nil
    self.refusal = refusal
  }

  /// Everything to search in, in lower case.
  var searchText: String {
    ([kind, title, clientID, app, tenantID].compactMap(\.self) + scopes).joined(separator: "\n").lowercased()
  }

  /// The sign-in that it needs because a renewal was refused.
  public var requiredSignIn: SignInRequest? { refusal?.signIn }

  /// `nil` for tokens of an application.
  public var homeAccountID: String? { summary.homeAccountId }
  public var environment: String? { summary.environment }
  public var clientID: String? { summary.clientId }
  /// The app by its name where that is known, else its client ID.
  public var app: String? { appName ?? clientID.map { printable($0) } }
  /// What the token permits, without the address of the API and what every sign-in asks for.
  public var permissions: [String] {
    let granted = scopes.filter { !ScopeSet.openIDConnect.contains($0.lowercased()) }
    return (granted.isEmpty ? scopes : granted).map { printable(KnownNames.permission($0)) }
  }
  /// The family of clients that may use a refresh token.
  public var familyID: String? { summary.familyId }
  public var expiresOn: Date? { summary.expiresOn }

  /// Whether it is an access token that a call can return.
  func serves(at now: Date) -> Bool { serves && expiresOn.map { $0 > now } ?? false }

  func isExpired(at now: Date) -> Bool { expiresOn.map { $0 <= now } ?? false }

  /// How much of its time is left; `nil` where that is unknown.
  public func timeLeft(at now: Date) -> TimeLeft? {
    expiresOn.map { TimeLeft(until: $0, from: summary.cachedAt, at: now) }
  }

  /// What else is known of it. A value may have several lines.
  public var details: [(name: String, value: String)] {
    let all: [(String, [String?])] = [
      (localized("Kind"), [kind == title ? nil : kind]), (localized("Scopes"), scopes),
      (localized("Tenant"), [tenantID]), (localized("Client ID"), [clientID]),
      (localized("Family"), [familyID]), (localized("Cloud"), [environment]),
      (localized("Account ID"), [homeAccountID]), (localized("Requested claims"), [claims]),
    ]
    return all.compactMap { name, values in
      let lines = values.compactMap(\.self).map { printable($0) }
      return lines.isEmpty ? nil : (name, lines.joined(separator: "\n"))
    }
  }

  /// Whether it can be renewed, in words.
  public func renewal(at now: Date) -> String? {
    guard id.section == .accessToken else { return nil }
    guard serves else { return localized("Serves no call for a bearer token") }
    if let refusal {
      return refusal.signIn == nil ? localized("Renewal refused") : localized("Needs a new sign-in")
    }
    if let extendedExpiresOn, expiresOn.map({ $0 <= now }) ?? true, extendedExpiresOn > now {
      return isRenewable
        ? localized("Can be renewed; serves while the server is down")
        : localized("Serves while the server is down")
    }
    return isRenewable ? localized("Can be renewed") : localized("Cannot be renewed")
  }
}

extension CredentialType {
  fileprivate var words: String {
    switch self {
    case .accessToken, .legacySingleResourceToken: localized("Access token")
    case .accessTokenWithAuthScheme: localized("Access token bound to a key")
    case .refreshToken: localized("Refresh token")
    case .familyRefreshToken: localized("Refresh token of a family")
    case .boundRefreshToken: localized("Refresh token bound to a device")
    case .primaryRefreshToken: localized("Primary refresh token")
    case .idToken, .legacyIDToken: localized("ID token")
    case .other: localized("Unknown token")
    }
  }
}
