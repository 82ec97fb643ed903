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

  /// Tells the person about problems, on standard error.
  static func report(_ problems: [StoreProblem]) {
    for problem in problems {
      let advice =
        switch problem.kind {
        case .duplicate: "The next write makes them one."
        case .newerVersion: "It was left as it is; update llavero to read it."
        case .wrongKey: "It was left as it is; restore the store's files from one backup."
        case .foreign, .damaged, .rolledBack, .missing: "It was left as it is."
        }
      Terminal.error("warning: " + sentences(printable(problem.detail), advice, problem.remedy.command))
    }
  }
}
