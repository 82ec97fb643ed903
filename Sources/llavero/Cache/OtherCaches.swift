import GLibSupport
import MSALExtensionsStore
import SecretService
import TokenCache

/// The token caches that other programs keep on this machine, with the problems of each.
struct OtherCaches: Sendable {
  struct Entry: Sendable {
    let report: PeerReport
    /// Each finding once: several caches may share a lock file.
    let findings: [PeerFinding]
  }

  let entries: [Entry]
  /// The files that could not be read, and why.
  let unreadable: [(peer: PeerCache, error: CacheError)]
  /// Why the keyring could not be read. Its caches are then missing.
  let keyringError: CacheError?

  /// Reads all known caches.
  ///
  /// - Parameters:
  ///   - options: The collection, and whether the keyring may prompt.
  ///   - timeout: How long to wait for one cache.
  /// - Returns: The caches that exist. It never throws: a cache or keyring that cannot be read is part of the result.
  static func inspect(_ options: StoreOptions, timeout: Duration = .seconds(25)) async -> OtherCaches {
    let client = options.connection
    var (entries, unreadable): ([Entry], [(PeerCache, CacheError)]) = ([], [])
    var keyringError: CacheError?
    var known: Set<PeerFinding> = []
    for peer in PeerRegistry(environment: processEnvironment()).caches {
      // What fails for one item fails for all.
      if keyringError != nil && peer.file == nil { continue }
      do throws(CacheError) {
        let report = try await options.store(of: peer, group: .default, client: client, timeout: timeout)
          .inspect()
        let findings = report.findings.filter { known.insert($0).inserted }
        guard report.isPresent, report.contents?.copies != 0 || !findings.isEmpty else { continue }
        entries.append(Entry(report: report, findings: findings))
      } catch {
        if peer.file == nil { keyringError = error } else { unreadable.append((peer, error)) }
      }
    }
    return OtherCaches(entries: entries, unreadable: unreadable, keyringError: keyringError)
  }
}

/// Prints the caches of other programs: `llavero adopt` without a name.
struct OtherCacheList: Encodable {
  private struct Source: Encodable {
    let name: String
    let users: String
    let place: String
    let path: String?
    let schema: String?
    let isEncrypted: Bool
    let accounts: Int?
    let records: Int?
    var findings: [Finding]

    init(_ report: PeerReport, _ findings: [Finding]) {
      let (peer, document) = (report.peer, report.contents?.document)
      (name, users, path, schema) = (peer.name, peer.users, peer.file, peer.schema)
      isEncrypted = peer.file == nil
      place = isEncrypted ? "keyring" : "file"
      (accounts, records) = (document?.accountCount, document?.recordCount)
      self.findings = findings
    }
  }

  private struct Finding: Encodable {
    let kind: String
    let path: String?
    let detail: String
    let fixed: Bool
  }

  private var sources: [Source] = []
  private var warnings: [String] = []

  /// - Parameters:
  ///   - store: The options of the keyring.
  ///   - output: The output format.
  ///   - fix: Whether to close files to others and remove lock files of dead programs.
  /// - Throws: The error of the keyring, after the rest was printed.
  static func print(_ store: StoreOptions, _ output: OutputOptions, fix: Bool = false) async throws {
    try store.requireStore()
    let caches = await OtherCaches.inspect(store)
    var list = OtherCacheList()
    list.warnings = caches.unreadable.map(\.error.message)
    for entry in caches.entries {
      var findings: [Finding] = []
      for finding in entry.findings {
        var isFixed = fix && finding.isMendable
        do throws(CacheError) {
          if isFixed { try await finding.fix() }
        } catch {
          isFixed = false
          list.warnings.append(error.message)
        }
        findings.append(
          Finding(
            kind: finding.kind.rawValue, path: finding.path, detail: finding.detail, fixed: isFixed))
      }
      list.sources.append(Source(entry.report, findings))
    }
    try list.print(output)
    if let error = caches.keyringError { throw error }
  }

  private func print(_ output: OutputOptions) throws {
    if output.json { return Terminal.out(try json(self)) }
    for warning in warnings { Terminal.error("warning: " + printable(warning)) }
    guard !sources.isEmpty else { return Terminal.note("No token caches of other programs found.") }
    var table = Table([
      .init(title: "NAME", minimum: 12), .init(title: "KEPT", minimum: 9), .init(title: "ACCOUNTS"),
      .init(title: "RECORDS"), .init(title: "WHERE", minimum: 12), .init(title: "USED BY", minimum: 10),
    ])
    for source in sources {
      table.add([
        source.name, source.isEncrypted ? "encrypted" : "PLAINTEXT", source.accounts.map { "\($0)" } ?? "?",
        source.records.map { "\($0)" } ?? "?", source.path ?? source.schema ?? "-", source.users,
      ])
    }
    table.print { column, cell in column == 1 && cell != "encrypted" ? .yellow : nil }
    for source in sources {
      for finding in source.findings {
        Terminal.out(
          printable("\(source.name): \(finding.detail)")
            + (finding.fixed ? " Fixed." : Self.advice(finding.kind)))
      }
    }
  }

  private static func advice(_ kind: String) -> String {
    switch PeerFinding.Kind(rawValue: kind) {
    case .plaintext: " \"llavero adopt\" with the name moves them into the keyring."
    case .readableByOthers, .staleLock: " \"llavero doctor --fix\" fixes that."
    default: ""
    }
  }
}

extension PeerFinding {
  /// Closes a file to others or removes a lock file of a dead program, on a thread that may wait for another program's
  /// lock.
  func fix() async throws(CacheError) {
    try await BlockingQueue(label: "llavero.fix").run(
      timeout: .seconds(5), onCancel: CacheError(.cancelled, "It was cancelled."),
      onTimeout: CacheError(.timedOut, "Another program holds the lock.")
    ) { (cancellable) throws(CacheError) in try mend(cancellable) }
  }
}
