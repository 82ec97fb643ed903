import FoundationEssentials
import TokenCache

/// What went, or would go, from one cache into another.
struct Transfer: Encodable {
  let group: String
  /// The other program's cache.
  let peer: String?
  /// The kinds of store, and what else is to be said of a copy.
  var from: String?
  var to: String?
  var accounts: Int?
  var problems: [ProblemSummary]?
  let saved: Int
  let kept: Int
  /// `nil` where something was done.
  private(set) var dryRun: Bool?
  /// What is new or different, where that was asked for.
  private(set) var records: [RecordSummary]?

  init(_ summary: ImportSummary, group: KeychainGroup, peer: String? = nil) {
    self.group = group.name
    self.peer = peer
    saved = summary.saved
    kept = summary.kept
  }

  /// What would go from one document into another.
  init(
    preview document: CacheDocument, into before: CacheDocument, _ clouds: CloudInstances,
    group: KeychainGroup, peer: String? = nil
  ) {
    var after = before
    self.init(after.merge(document, in: clouds), group: group, peer: peer)
    dryRun = true
    let now = Date()
    let old = Dictionary(before.listed(at: now).map { ($0.summary.id, $0.fields) }) { first, _ in first }
    records = after.listed(at: now).filter { old[$0.summary.id] != $0.fields }.map(\.summary)
  }

  /// Passes only where all of the group could be read that went into `what`.
  static func check(_ snapshot: CacheSnapshot, _ what: String, of group: KeychainGroup) throws {
    guard snapshot.problems.contains(where: \.hidesRecords) else { return }
    throw Failure.Message(
      name: "incomplete", message: "\(what) lacks what could not be read of \(group.name).",
      advice: "\"llavero doctor\" says what to do about that.")
  }

  /// Prints it, with a line such as `3 records imported into GROUP, 2 there already.`
  func print(_ output: OutputOptions, verb: String, target: String) throws {
    if output.json { return Terminal.out(try json(self)) }
    if let records, !records.isEmpty { List.printTable(of: records, now: Date(), to: Terminal.output) }
    let done = dryRun == true ? "would be \(verb)" : verb
    Terminal.out("\(counted(saved, "record")) \(done) into \(printable(target)), \(kept) there already.")
  }
}
