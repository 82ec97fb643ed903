import Configuration
import FoundationEssentials
import Localization
public import TokenCache

/// What the window shows of a group without accounts.
public struct EmptyGroup: Sendable {
  /// Why there are none, and what helps.
  public let reason: Trouble
  /// Other groups, which have accounts.
  public let groupsWithAccounts: [KeychainGroup]
}

extension Keychain {
  /// Why a listing has no accounts.
  @concurrent public func emptyGroup(_ listing: GroupListing, among groups: [KeychainGroup]) async
    -> EmptyGroup
  {
    var others: [KeychainGroup] = []
    for group in groups where group != listing.group {
      let snapshot = try? await snapshot(of: group, mayPrompt: false)
      if (try? snapshot?.accounts())?.isEmpty == false { others.append(group) }
    }
    return EmptyGroup(reason: reason(listing, others), groupsWithAccounts: others)
  }

  private func reason(_ listing: GroupListing, _ others: [KeychainGroup]) -> Trouble {
    if let trouble = listing.troubles.first {
      return Trouble(
        localized("Entries Cannot Be Read"), trouble.message, advice: trouble.advice,
        help: trouble.help ?? .doctor)
    }
    if case .file(let directory) = settings.store.address, let directory,
      !FileManager.default.fileExists(atPath: directory)
    {
      return Trouble(
        localized("The Folder Is Missing"), localized("%s does not exist.", directory),
        advice: localized("If it is on another disk, connect that. Otherwise the first sign-in makes it."),
        help: .doctor)
    }
    return Trouble(
      others.isEmpty ? localized("No Accounts") : localized("No Accounts in This Group"),
      localized("No account is signed in to the group %s.", listing.group.name),
      advice: others.isEmpty
        ? localized("Sign in here, or with an app that uses it.")
        : localized("Sign in here, or choose a group that has accounts."),
      help: .signIn(SignInRequest()))
  }
}
