package import TokenCache

/// What a problem looks like in `--json`.
package struct ProblemSummary: Encodable, Sendable {
  let kind: String
  let shard: String?
  let detail: String

  package init(_ problem: StoreProblem) {
    (kind, shard, detail) = (problem.kind.rawValue, problem.shard?.rawValue, problem.detail)
  }

  /// Tells the person about problems, on standard error.
  package static func report(_ problems: [StoreProblem]) {
    for problem in problems {
      let advice =
        switch problem.kind {
        case .damaged: " It was left as it is; \"llavero clear --damaged\" removes it."
        case .newerVersion: " It was left as it is; update llavero to read it."
        case .wrongKey: " It was left as it is; restore the store's files from one backup."
        case .rolledBack, .missing: " \"llavero clear --damaged\" puts that right."
        case .duplicate: " The next write makes them one."
        case .foreign: " It was left as it is."
        }
      Terminal.error("warning: " + printable(problem.detail) + advice)
    }
  }
}

extension StoreProblem {
  /// Whether `llavero clear --damaged` is about it.
  package var isDamage: Bool { [.damaged, .rolledBack, .missing].contains(kind) }
}
