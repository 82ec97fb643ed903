import TokenCache

/// What is in the groups that should not be.
struct GroupsCheck: Check {
  static let name = "groups"

  func examine(_ patient: Patient) async throws -> [Finding] {
    var findings: [Finding] = []
    let groups = try await patient.store.groups()
    for group in groups {
      let contents = try await patient.store.read(.all, in: group)
      let problems = contents.problems
      if contents.documents.isEmpty, problems.isEmpty {
        findings.append(
          .mendable(.warning, "\(group.name) has only empty items, as KWallet leaves when it is killed.") {
            [store = patient.store] in _ = try await store.remove(.damaged, in: group)
          })
      }
      for kind in StoreProblem.Kind.allCases {
        let ofKind = problems.filter { $0.kind == kind }
        if !ofKind.isEmpty { findings.append(Self.finding(kind, ofKind, in: group, patient)) }
      }
    }
    if !findings.isEmpty { return findings }
    if groups.isEmpty { return [.ok("There is no group yet.")] }
    return [.ok("\(counted(groups.count, "group")), whole and readable.")]
  }

  private static func finding(
    _ kind: StoreProblem.Kind, _ problems: [StoreProblem], in group: KeychainGroup, _ patient: Patient
  ) -> Finding {
    let clearing = patient.command("clear", "--damaged", "--group", group.name)
    let items = "\(group.name) has \(counted(problems.count, "item"))"
    switch kind {
    case .damaged:
      return .problem(
        "\(items) that cannot be read: \(problems[0].detail)",
        advice: problems[0].remedy == .acceptance
          ? "Restore a backup of the whole group, or accept the files that open: \(clearing)"
          : "Their accounts have to sign in again after: \(clearing)")
    case .duplicate:
      let shards = Set(problems.compactMap(\.shard)).sorted { $0.rawValue < $1.rawValue }
      return .mendable(
        .warning, "\(group.name) has \(counted(shards.count, "account")) in more than one item."
      ) { [store = patient.store] in try await store.update(shards, in: group) { _ in } }
    case .foreign:
      return .warning(
        "\(items) of another program under its name; nobody reads them.",
        advice: "See what they are with the keyring's own program, such as Seahorse.")
    case .rolledBack, .missing:
      return .problem(
        "\(items) that an older copy replaced, or that were taken away: \(problems[0].detail)",
        advice: "If nobody restored a backup, somebody else writes there. Put it right with: \(clearing)")
    case .wrongKey:
      return .problem(
        "\(items) that the key does not open: \(problems[0].detail)",
        advice: "Restore the store's files from one backup.")
    case .newerVersion:
      return .warning(
        "\(items) that only a later version can read.",
        advice: "Update llavero and what else shares the group.")
    }
  }
}
