import TokenCache

/// The entries of a group that cannot be read or that an older copy replaced, and what can be done about them.
///
/// Some of them open: where an older copy was put back, or where nothing tells which is current. So each is named.
struct UnreadableEntries: Sendable {
  let group: KeychainGroup
  let problems: [StoreProblem]

  /// - Returns: `nil` where nothing can be removed or accepted.
  init?(_ problems: [StoreProblem], in group: KeychainGroup) {
    self.problems = problems.filter { $0.remedy != .none }
    self.group = group
    if self.problems.isEmpty { return nil }
  }

  /// How many are removed; the others are accepted.
  var removalCount: Int { problems.count { $0.remedy == .removal } }

  /// Returns a line for each entry with what is done about it.
  func descriptions(_ verb: String) -> [String] {
    problems.map { problem in
      printable("\(problem.detail) It \(verb) \(problem.remedy == .removal ? "removed" : "accepted").")
    }
  }

  /// Names each entry and asks whether to remove them.
  ///
  /// - Parameter advice: What to do where standard input is not a terminal.
  /// - Throws: `Failure.Message` of code `interactionRequired` without a terminal, and `cancelled` after a no.
  func confirm(advice: String) throws(Failure.Message) {
    guard Terminal.isInput else {
      throw Failure.Message(
        code: .interactionRequired, name: "confirmation_required",
        message: "Nothing was removed from \(group.name): confirmation required.", advice: advice)
    }
    descriptions("would be").forEach(Terminal.error)
    let question =
      removalCount > 0
      ? "Remove \(counted(removalCount, "item")) from \(group.name)?" : "Accept that in \(group.name)?"
    guard Terminal.confirm(question) else {
      throw Failure.Message(
        code: .cancelled, name: "cancelled", message: "Nothing was removed from \(group.name).")
    }
  }

  func remove(from store: any CacheStore) async throws(CacheError) {
    _ = try await store.remove(.damaged, in: group)
  }
}

/// What a problem looks like in `--json`.
struct ProblemSummary: Encodable, Sendable {
  let kind: String
  let shard: String?
  let detail: String
  /// What `llavero doctor --fix` does about it.
  let remedy: String

  init(_ problem: StoreProblem) {
    kind = problem.kind.rawValue
    shard = problem.shard?.rawValue
    detail = problem.detail
    remedy = problem.remedy.rawValue
  }

  /// Prints problems on standard error.
  static func report(_ problems: [StoreProblem]) {
    for problem in problems {
      Terminal.error(
        "warning: " + sentences(printable(problem.detail), problem.advice, problem.remedy.command))
    }
  }
}
