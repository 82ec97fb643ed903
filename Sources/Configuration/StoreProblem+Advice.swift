public import TokenCache

extension StoreProblem {
  /// What was done about it, and what helps besides its remedy, in a sentence.
  public var advice: String {
    switch kind {
    case .duplicate: "The next write merges the copies."
    case .edited: "The next write gives it the right ones."
    case .newerVersion: "It was left as it is; update llavero to read it."
    case .wrongKey: "It was left as it is; restore the whole store from one backup."
    case .foreign, .damaged, .rolledBack, .missing, .returned: "It was left as it is."
    }
  }
}
