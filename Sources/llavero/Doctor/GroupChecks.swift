import FoundationEssentials
import KeyringStore
import TokenCache

extension Check {
  /// Checks the groups for entries that cannot be read or do not belong there.
  static let groups = Check(name: "groups") { setup in
    var findings: [Finding] = []
    let hidden = try await (setup.store as? KeyringCacheStore)?.returnedItems() ?? [:]
    let groups = try await Set(setup.store.groups()).union(hidden.keys).sorted { $0.name < $1.name }
    for group in groups {
      let contents = try await setup.store.read(.all, in: group)
      // A look at a whole keyring does not read the attributes of each item.
      let shards = contents.documents.keys.sorted { $0.rawValue < $1.rawValue }
      let exact = try await setup.store.read(.some(shards), in: group)
      let problems =
        contents.problems.filter { $0.kind != .edited } + exact.problems.filter { $0.kind == .edited }
        + hidden[group, default: []]
      let misplaced = shards.count { exact.documents[$0] == nil }
      if misplaced > 0 {
        findings += .warning(
          "\(group.name) has \(counted(misplaced, "item")) under another name than their account's.",
          advice: "Remove the group, then its accounts have to sign in again: "
            + setup.options.command(["clear", "--all", "--group", group.name]))
      }
      if contents.documents.isEmpty, problems.isEmpty {
        findings += .fixable(
          .warning, "\(group.name) has only empty items, as KWallet leaves when it is killed."
        ) { _ = try await setup.store.remove(.damaged, in: group) }
      }
      for kind in StoreProblem.Kind.allCases {
        let ofKind = problems.filter { $0.kind == kind }
        if ofKind.isEmpty { continue }
        let isRemovable = ofKind.contains { $0.remedy != .none }
        let removal = isRemovable ? UnreadableEntries(problems, in: group) : nil
        findings += finding(kind, ofKind, in: group, setup, removal.map(Finding.Remedy.removal))
      }
    }
    if !findings.isEmpty { return findings }
    if groups.isEmpty { return .ok("No group exists yet.") }
    return .ok("\(counted(groups.count, "group")), complete and readable.")
  }

  private static func finding(
    _ kind: StoreProblem.Kind, _ problems: [StoreProblem], in group: KeychainGroup, _ setup: CheckedSetup,
    _ removal: Finding.Remedy?
  ) -> [Finding] {
    let fixing = setup.options.command(["doctor", "--fix"])
    let items = "\(group.name) has \(counted(problems.count, "item"))"
    switch kind {
    case .damaged:
      return .problem(
        "\(items) that cannot be read: \(problems[0].detail)",
        advice: problems[0].remedy == .acceptance
          ? "Restore a backup of the whole group, or accept the files that open: \(fixing)"
          : "Remove them, then their accounts have to sign in again: \(fixing)", remedy: removal)
    case .duplicate:
      let shards = Set(problems.compactMap(\.shard)).sorted { $0.rawValue < $1.rawValue }
      return .fixable(
        .warning, "\(group.name) has \(counted(shards.count, "account")) in more than one item."
      ) { try await setup.store.update(shards, in: group) { _ in } }
    case .edited:
      return .fixable(
        .warning, "\(items) with attributes that no store gave them, as a keyring editor adds."
      ) { try await setup.store.update(problems.compactMap(\.shard), in: group) { _ in } }
    case .foreign:
      return .warning(
        "\(items) of another program under its name, which llavero does not read.",
        advice: "Look at them with the keyring's own program, such as Seahorse.")
    case .rolledBack, .missing:
      return .problem(
        "\(items) that an older copy replaced or another program removed: \(problems[0].detail)",
        advice:
          "Unless a backup was restored, another program writes there. Accept the current state: \(fixing)",
        remedy: removal)
    case .returned:
      return .problem(
        "\(items) that were removed, and are back: KWallet ended before it wrote the removal.",
        advice: "They may hold tokens. Remove them: \(fixing)", remedy: removal)
    case .wrongKey:
      return .problem(
        "\(items) that the key does not open: \(problems[0].detail)",
        advice: "Restore the whole store from one backup.")
    case .newerVersion:
      return .warning(
        "\(items) that only a later version can read.",
        advice: "Update llavero and the other programs that share the group.")
    }
  }

  /// Checks for tokens that were cached in the future.
  static let clock = Check(name: "clock") { setup in
    var findings: [Finding] = []
    for group in try await setup.store.groups() {
      let documents = try await setup.store.read(.all, in: group).documents.values
      // The clocks of two machines that share a home directory may differ by five minutes.
      let ahead = documents.flatMap(\.accessTokens.values).compactMap(\.cachedAt)
        .filter { $0.timeIntervalSince(setup.now) > 300 }
      guard let last = ahead.max() else { continue }
      findings += .warning(
        "\(group.name) has \(counted(ahead.count, "token")) cached in the future, "
          + "at \(last.formatted(.iso8601)): the clock was wrong then, or is now.",
        advice: "Such tokens are renewed early. Check the clock: timedatectl status")
    }
    if !findings.isEmpty { return findings }
    return .ok("No token was cached in the future: the clock says \(setup.now.formatted(.iso8601)).")
  }
}
