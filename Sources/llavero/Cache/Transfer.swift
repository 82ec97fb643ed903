import EncryptedFileStore
import FoundationEssentials
import Synchronization
import TokenCache

/// The result of an import, an export or a copy, or of its dry run.
struct Transfer {
  let group: String
  /// The name of another program's cache.
  let peer: String?
  /// Between stores, what the JSON says of them.
  private var stores: Members = [:]
  /// What cannot be read of what was read.
  var problems: [Members]?
  var warnings: [String]?
  let saved: Int
  let kept: Int
  /// `nil` where records were written.
  private(set) var dryRun: Bool?
  /// In a dry run, the records that are new or newer.
  private(set) var records: [RecordSummary]?

  init(_ summary: ImportSummary, group: KeychainGroup, peer: String? = nil) {
    self.group = group.name
    self.peer = peer
    saved = summary.saved
    kept = summary.kept
  }

  /// Imports a document into a group, which in a dry run is only read. The progress is what is being done, such as
  /// `Importing`.
  init(
    _ document: CacheDocument, into cache: TokenCacheAccessor, peer: String? = nil, isDryRun: Bool,
    _ output: OutputOptions, progress: String
  ) async throws(CacheError) {
    if isDryRun {
      let snapshot = try await cache.snapshot()
      output.report(snapshot.problems)
      self.init(preview: document, into: snapshot.document, cache.clouds, group: cache.group, peer: peer)
      problems = snapshot.problems.map(\.members)
    } else {
      let isQuiet = Terminal.isQuiet
      // An error has the line for itself.
      defer { if !isQuiet { Terminal.status("") } }
      let finished = Mutex("None of the accounts")
      Interruption.beginCancelling()
      do {
        let summary = try await cache.import(document) { done, count in
          finished.withLock { $0 = "\(done) of \(count) accounts" }
          if isQuiet { return }
          Terminal.status("\(progress): \(done) of \(count) accounts")
        }
        self.init(summary, group: cache.group, peer: peer)
      } catch  where error.code == .cancelled {
        throw CacheError(
          .cancelled, "It was cancelled. \(finished.withLock(\.self)) are in \(cache.group.name).",
          advice: "The same command goes on.")
      }
    }
  }

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

  static func check(_ snapshot: CacheSnapshot, _ what: String, of group: KeychainGroup) throws {
    guard snapshot.problems.contains(where: \.hidesRecords) else { return }
    throw Failure(
      "incomplete", "\(what) is incomplete: a part of \(group.name) could not be read.",
      advice: "\"llavero doctor\" shows what to do.")
  }

  /// Prints the result, with a line such as `3 records imported into GROUP, 2 there already.`
  func print(_ output: OutputOptions, verb: String, target: String) throws {
    if output.json {
      return try Terminal.out(
        [
          "group": group, "peer": peer, "saved": saved, "kept": kept, "dry_run": dryRun,
          "records": records?.map(\.members), "problems": problems, "warnings": warnings,
        ] + stores)
    }
    if let records, !records.isEmpty { List.printTable(of: records, now: Date(), to: Terminal.output) }
    let done = dryRun == true ? "would be \(verb)" : verb
    Terminal.out("\(counted(saved, "record")) \(done) into \(printable(target)), \(kept) there already.")
  }
}

extension Transfer {
  /// Copies a group from one store into another. The verb says what is done, such as `imported`, and the progress what is
  /// being done, such as `Importing`. A copy of a store onto itself or of nothing is an error, as is an incomplete one.
  static func copy(
    _ group: KeychainGroup, from: StoreOptions, to: StoreOptions, isDryRun: Bool, _ output: OutputOptions,
    verb: String, progress: String
  ) async throws {
    try from.requireStore()
    let (source, target) = (from.settings, to.settings)
    guard !source.isSameStore(as: target) else {
      throw Failure(
        "same_store", "Both stores are the same.", code: .usage,
        advice: "Name another one with --store.")
    }
    let read = try await from.run { TokenCacheAccessor(store: try from.store, group: group) }
    let written = try await to.run { TokenCacheAccessor(store: try to.store, group: group) }
    let snapshot = try await from.run { try await read.snapshot() }
    let (document, problems) = (snapshot.document, snapshot.problems)
    output.report(problems)
    guard !document.isEmpty || !problems.isEmpty else {
      throw Failure(
        "not_found", "No records of \(group.name) \(source.kind.place).",
        advice: "List the groups: " + from.command(["list", "--groups"]))
    }
    var transfer = try await to.run {
      try await Transfer(document, into: written, isDryRun: isDryRun, output, progress: progress)
    }
    let directory = try (written.store as? EncryptedFileCacheStore)?.path()
    let persistent = target.persistent
    let address = directory.map { "file:" + $0 } ?? (persistent.address ?? .keyring).description
    let key = persistent.key?.argument
    transfer.stores = [
      "from": source.kind.rawValue, "to": target.kind.rawValue, "store": address, "key": key,
      "account_count": document.accountCount,
    ]
    transfer.problems = problems.map(\.members) + (transfer.problems ?? [])
    let place = key.map { "in \(address) with the key \($0)" }
    try transfer.print(output, verb: verb, target: "\(group.name), \(place ?? target.kind.place)")
    try check(snapshot, "The copy", of: group)
  }
}
