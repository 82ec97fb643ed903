import FoundationEssentials
import TokenCache
import ToolSupport

/// What went, or would go, from one cache into another.
struct Transfer: Encodable {
  let group: String
  /// The other program's cache.
  let peer: String?
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

  init(
    preview summary: ImportSummary, group: KeychainGroup, peer: String?, from before: CacheDocument,
    to after: CacheDocument, now: Date
  ) {
    self.group = group.name
    self.peer = peer
    saved = summary.saved
    kept = summary.kept
    dryRun = true
    let old = Dictionary(before.listed(at: now).map { ($0.summary.id, $0.fields) }) { first, _ in first }
    records = after.listed(at: now).filter { old[$0.summary.id] != $0.fields }.map(\.summary)
  }

  /// Prints it, with a line such as `3 records imported into GROUP, 2 there already.`
  func print(_ output: OutputOptions, verb: String, target: String) throws {
    if output.json { return Terminal.out(try json(self)) }
    if let records, !records.isEmpty { List.printTable(of: records, now: Date(), to: Terminal.output) }
    let done = dryRun == true ? "would be \(verb)" : verb
    Terminal.out("\(counted(saved, "record")) \(done) into \(printable(target)), \(kept) there already.")
  }
}
