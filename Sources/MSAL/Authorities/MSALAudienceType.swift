/// Whose accounts may sign in.
public enum MSALAudienceType: Int, Sendable {
  /// Work and school accounts of every organization, and personal ones: `common`.
  case azureADAndPersonalMicrosoftAccountAudience = 0
  /// Work and school accounts of every organization: `organizations`.
  case azureADMultipleOrgsAudience = 1
  /// Accounts of one organization, which has to be named.
  case azureADMyOrgOnlyAudience = 2
  /// Personal accounts: `consumers`.
  case personalMicrosoftAccountAudience = 3
}
