import TokenCache

/// What a problem looks like in `--json`.
struct ProblemSummary: Encodable, Sendable {
  let kind: String
  let shard: String?
  let detail: String
  /// What `llavero clear --damaged` does about it.
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
