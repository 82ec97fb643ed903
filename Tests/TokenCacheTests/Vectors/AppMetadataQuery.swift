@testable import TokenCache

/// Which app metadata to find, with the matching rules of MSAL for iOS and macOS.
///
/// A field that is `nil` matches everything.
struct AppMetadataQuery: Sendable, Hashable {
  var clientID: String?
  var environment: String?
  /// Hosts of one cloud, any of which the record may have; empty for all.
  var environmentAliases: [String] = []
  var familyID: String?

  init(clientID: String? = nil, environment: String? = nil) {
    (self.clientID, self.environment) = (clientID, environment)
  }

  /// The account part of the keys that match, where it is known. The environment keeps its case.
  var account: String? { environment }

  /// The service part of the keys that match, where it is known.
  var service: String? { clientID.map { "appmetadata-" + $0.normalized } }

  /// The generic part of the keys that match, where it is known.
  var generic: String? { familyID }

  /// The keychain's item type of the records that match.
  var itemType: Int? { clientID == nil ? nil : 3001 }

  /// Whether the query names a single record.
  var isExactMatch: Bool { account != nil && service != nil }

  /// Whether a record is among those asked for.
  func matches(_ record: AppMetadata) -> Bool {
    clientID.matches(record.clientID) && environment.matches(record.environment)
      && (environmentAliases.isEmpty || environmentAliases.contains { $0.matches(record.environment) })
      && (familyID ?? record.familyID) == record.familyID
  }
}
