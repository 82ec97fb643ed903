public import Foundation

/// What can be said of an account, whoever keeps it.
///
/// Objective-C has a class and a protocol of one name, `MSALAccount`; Swift calls the protocol this.
public protocol MSALAccountProtocol: NSObjectProtocol {
  /// The name with which the person signs in, mostly like a mail address. It is shown, and may change.
  var username: String? { get }
  /// The home account id, `uid.utid`: what to remember an account by.
  var identifier: String? { get }
  /// The host of the cloud that the account belongs to.
  var environment: String { get }
  /// What the ID token of the account's home tenant says.
  var accountClaims: [String: Any]? { get }
  /// The account in each tenant that it is known in, the home tenant first.
  var tenantProfiles: [MSALTenantProfile]? { get }
  /// The home account id in its parts.
  var homeAccountId: MSALAccountId? { get }
  /// Whether the account comes from the system's single sign-on.
  var isSSOAccount: Bool { get }
}
