import Synchronization
public import TokenCache

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
  /// Begins to read the group that is shown first. The next ``read(_:)`` returns what was found.
  public func prepare() {
    let group = group
    prepared.withLock { $0 = Task.detached { [self] in await reading(of: group) } }
  }

  /// Reads a group, and what else the window shows.
  @concurrent public func read(_ group: KeychainGroup) async -> Reading {
    let begun = prepared.withLock { task in
      defer { task = nil }
      return task
    }
    if let begun, group == self.group { return await begun.value }
    return await reading(of: group)
  }

  private func reading(of group: KeychainGroup) async -> Reading {
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
