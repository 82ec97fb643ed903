package import TokenCache

/// What a problem looks like in `--json`.
package struct ProblemSummary: Encodable, Sendable {
  let kind: String
  let shard: String?
  let detail: String
  /// What `llavero clear --damaged` does about it.
  let remedy: String

  package init(_ problem: StoreProblem) {
    kind = problem.kind.rawValue
    shard = problem.shard?.rawValue
    detail = problem.detail
    remedy = problem.remedy.rawValue
  }

  /// Tells the person about problems, on standard error.
  package static func report(_ problems: [StoreProblem]) {
    for problem in problems {
      let advice =
        switch (problem.kind, problem.remedy) {
        case (_, .removal): " It was left as it is; \"llavero clear --damaged\" removes it."
        case (_, .acceptance): " \"llavero clear --damaged\" accepts what there is."
        case (.newerVersion, _): " It was left as it is; update llavero to read it."
        case (.wrongKey, _): " It was left as it is; restore the store's files from one backup."
        case (.duplicate, _): " The next write makes them one."
        case (.foreign, _), (.damaged, _), (.rolledBack, _), (.missing, _): " It was left as it is."
        }
      Terminal.error("warning: " + printable(problem.detail) + advice)
    }
  }
}
