import FoundationEssentials
@testable import TokenCache

/// What names a token in the keychain of ADAL, the library before MSAL.
struct LegacyCacheKey: Sendable, Hashable {
  /// The system whose ADAL wrote the token; they spell the account differently.
  enum Platform: Sendable, Hashable, CaseIterable {
    case iOS
    case macOS
  }

  /// The URL of the authority.
  var authority: String
  var clientID: String
  /// `nil` for a refresh token that serves every resource.
  var resource: String?
  /// The user principal name.
  var legacyUserID: String
  /// The application's identifier in Intune.
  var applicationIdentifier: String?
  var appKey: String?

  init(
    authority: String, clientID: String, resource: String? = nil, legacyUserID: String,
    applicationIdentifier: String? = nil, appKey: String? = nil
  ) {
    (self.authority, self.clientID, self.resource) = (authority, clientID, resource)
    (self.legacyUserID, self.appKey) = (legacyUserID, appKey)
    self.applicationIdentifier = applicationIdentifier
  }

  /// The record's name, composed from its parts. It has no item type.
  func key(on platform: Platform) -> CacheKey {
    let user = legacyUserID.normalized
    return CacheKey(
      account: platform == .iOS ? Self.encoded(user) : user, service: service, generic: Self.library,
      itemType: nil)
  }

  private static let library = "MSOpenTech.ADAL.1"
  /// Stands where a token has no resource: the keychain took no empty attribute.
  private static let noResource = "CC3513A0-0E69-4B4D-97FC-DFB6C91EE132"

  private var service: String {
    var library = Self.library
    if let id = applicationIdentifier.nonBlank { library += "-" + Self.encoded(id) }
    let parts = [
      library, Self.encoded(authority.normalized),
      resource.nonBlank.map { Self.encoded($0.normalized) } ?? Self.noResource,
      Self.encoded(clientID.normalized),
    ]
    return (parts + (appKey.nonBlank.map { [$0] } ?? [])).joined(separator: "|")
  }

  private static func encoded(_ text: String) -> String { Data(text.utf8).base64URL }
}
