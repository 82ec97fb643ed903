import Configuration
import Synchronization
public import TokenCache

extension GroupListing {
  /// The shards of the accounts that come first, for ``Keychain/prepare(first:)``.
  public var firstShards: [ShardID] {
    accounts.prefix(Keychain.pageSize).filter { !$0.id.isEmpty }.map {
      ShardID(homeAccountID: $0.id, group: group)
    }
  }
}

/// What one reading of the store found.
public struct Reading: Sendable {
  /// The group's ``Keychain/generation(of:)`` before it was read.
  public let generation: UInt64?
  /// The groups of the store; `nil` where they cannot be listed.
  public let groups: [KeychainGroup]?
  /// What the group holds, or why that cannot be shown.
  public let listing: Result<GroupListing, Trouble>
  /// Why the group has no accounts; `nil` where it has some.
  public let emptyGroup: EmptyGroup?
  public let plaintextCaches: [PlaintextCache]
}

extension Keychain {
  /// How many accounts a window shows without scrolling, about.
  public static let pageSize = 12

  /// Begins to read the accounts that came first when the group was last shown, for ``firstPage(of:)``.
  public func prepare(first shards: [ShardID]) {
    guard !shards.isEmpty else { return }
    let group = group
    firstPage.withLock { $0 = Task.detached { [self] in await listing(of: shards, in: group) } }
  }

  /// The accounts that come first in a group, and no more, where ``prepare(first:)`` has read them; `nil` without any.
  @concurrent public func firstPage(of group: KeychainGroup) async -> GroupListing? {
    let page = firstPage.withLock { task in
      defer { task = nil }
      return task
    }
    return group == self.group ? await page?.value : nil
  }

  private func listing(of shards: [ShardID], in group: KeychainGroup) async -> GroupListing? {
    let shards = shards + [ShardID(homeAccountID: nil, group: group)]
    guard let snapshot = try? await cache(of: group, mayPrompt: false).snapshot(.some(shards)) else {
      return nil
    }
    let listing = GroupListing(of: group, snapshot, clientNames: settings.clientNames)
    return listing.accounts.isEmpty ? nil : listing
  }

  /// Reads a group, and what else the window shows.
  @concurrent public func read(_ group: KeychainGroup) async -> Reading {
    let generation = await generation(of: group)
    async let plaintextCaches = plaintextCaches()
    async let listed = result { () async throws(Trouble) in try await self.listing(of: group) }
    let groups = await result { () async throws(Trouble) in try await self.groups() }
    let listing = await listed
    var emptyGroup: EmptyGroup?
    if case (.success(let groups), .success(let listing)) = (groups, listing), listing.accounts.isEmpty {
      emptyGroup = await self.emptyGroup(listing, among: groups)
    }
    return Reading(
      generation: generation, groups: try? groups.get(), listing: groups.flatMap { _ in listing },
      emptyGroup: emptyGroup, plaintextCaches: await plaintextCaches)
  }

  private func result<T>(_ body: () async throws(Trouble) -> T) async -> Result<T, Trouble> {
    do throws(Trouble) {
      return .success(try await body())
    } catch {
      return .failure(error)
    }
  }
}
