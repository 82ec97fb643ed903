import FoundationEssentials
import GLibSupport
import TokenCache

/// The entries of a group that cannot be read or that an older copy replaced, and what can be done about them.
///
/// Some of them open: where an older copy was put back, or where nothing tells which is current. So each is named.
struct UnreadableEntries: Sendable {
  let group: KeychainGroup
  let problems: [StoreProblem]

  /// `nil` where nothing can be removed or accepted.
  init?(_ problems: [StoreProblem], in group: KeychainGroup) {
    self.problems = problems.filter { $0.remedy != .none }
    self.group = group
    if self.problems.isEmpty { return nil }
  }

  /// How many are removed; the others are accepted.
  var removalCount: Int { problems.count { $0.remedy == .removal } }

  /// Returns a line for each entry, with what is known of it and what is done about it.
  func descriptions(_ verb: String) -> [String] {
    problems.map { problem in
      let name = problem.shard.map { "Shard \($0.rawValue.prefix(8))" }
      let date = problem.modified.map { "changed \($0.formatted(.iso8601))" }
      let entry = [name, date].compactMap(\.self).joined(separator: ", ")
      let outcome = "It \(verb) \(problem.remedy == .removal ? "removed" : "accepted")."
      return printable((entry.isEmpty ? "" : entry + ": ") + "\(problem.detail) \(outcome)")
    }
  }

  /// Names each entry and asks whether to remove them. The advice says what to do without a terminal.
  private func confirm(advice: String) throws(Failure) {
    try Terminal.requirePerson("Nothing was removed from \(group.name)", advice: advice)
    descriptions("would be").forEach(Terminal.error)
    let question =
      removalCount > 0
      ? "Remove \(counted(removalCount, "item")) from \(group.name)?" : "Accept that in \(group.name)?"
    guard Terminal.confirm(question) else {
      throw .cancelled("Nothing was removed from \(group.name).")
    }
  }

  /// Removes or accepts the entries, after a person agreed to each unless `isConfirmed`: it asks again where there are others
  /// by then.
  ///
  /// - Returns: Those that it was done to; `nil` if none was left.
  func remove(from store: any CacheStore, isConfirmed: Bool, advice: String) async throws -> Self? {
    var entries = self
    while true {
      if !isConfirmed { try entries.confirm(advice: advice) }
      let problems = try await store.read(.all, in: group).problems + store.hiddenProblems(of: group)
      guard let present = Self(problems, in: group) else { return nil }
      let isSame = present.problems == entries.problems
      entries = present
      if isConfirmed || isSame { break }
    }
    _ = try await store.remove(.damaged, in: group)
    return entries
  }
}

extension StoreProblem {
  /// What it looks like in `--json`. The remedy is what `llavero doctor --fix` does about an entry
  /// that cannot be used; it merges a duplicate.
  var members: Members {
    ["kind": kind.rawValue, "shard": shard?.rawValue, "detail": detail, "remedy": remedy.rawValue]
  }
}

extension OutputOptions {
  /// Prints problems on standard error, unless the output is JSON, which has them as members.
  func report(_ problems: [StoreProblem]) {
    for problem in problems where !json {
      Terminal.warn(sentences(problem.detail, problem.advice, problem.remedy.command))
    }
  }
}
