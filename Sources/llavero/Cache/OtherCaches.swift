import GLibSupport
import MSALExtensionsStore
import SecretService
import TokenCache

/// The token caches that other programs keep on this machine, with the problems of each.
struct OtherCaches: Sendable {
  /// The findings have each one once: several caches may share a lock file.
  typealias Entry = (report: PeerReport, findings: [PeerFinding])

  let entries: [Entry]
  /// Why files could not be read.
  let unreadable: [CacheError]
  /// Why the keyring could not be read. Its caches are then missing.
  let keyringError: CacheError?

  /// Reads all known caches, and waits for each until the timeout. It never throws: a cache or keyring that cannot be read is
  /// part of the result.
  static func inspect(_ options: StoreOptions, timeout: Duration = .seconds(25)) async -> OtherCaches {
    let client = options.connection
    var (entries, unreadable): ([Entry], [CacheError]) = ([], [])
    var keyringError: CacheError?
    var known: Set<PeerFinding> = []
    let registry = PeerRegistry(environment: processEnvironment())
    for peer in registry.caches {
      // What fails for one item fails for all.
      if keyringError != nil && peer.file == nil { continue }
      do throws(CacheError) {
        let report = try await options.store(of: peer, group: .default, client: client, timeout: timeout)
          .inspect()
        let findings = report.findings.filter { $0.path == nil || known.insert($0).inserted }
        guard report.contents?.copies != 0 || !findings.isEmpty else { continue }
        entries.append((report, findings))
      } catch {
        if peer.file == nil { keyringError = error } else { unreadable.append(error) }
      }
    }
    entries += registry.secretFiles.compactMap(PeerReport.init(ofSecrets:)).map { ($0, $0.findings) }
    return OtherCaches(entries: entries, unreadable: unreadable, keyringError: keyringError)
  }
}

extension OtherCaches {
  /// Prints the caches of other programs: `llavero adopt` without a name.
  ///
  /// - Throws: The error of the keyring, after the rest was printed.
  static func print(_ store: StoreOptions, _ output: OutputOptions) async throws {
    try store.requireStore()
    let caches = await inspect(store)
    var warnings = caches.unreadable.map(\.message)
    var unexpected = caches.keyringError
    // Where there is no keyring, no cache in it is missing.
    let none = unexpected?.underlyingError as? SecretServiceError
    if none == .noSessionBus || none == .noSecretService, !store.settings.usesKeyring {
      warnings += unexpected.map { [$0.message] } ?? []
      unexpected = nil
    }
    if output.json {
      try Terminal.out(["sources": caches.entries.map(members), "warnings": warnings])
    } else {
      for warning in warnings { Terminal.warn(warning) }
      print(caches.entries)
    }
    if let error = unexpected { throw error }
  }

  private static func members(of entry: Entry) -> Members {
    let (peer, document) = (entry.report.peer, entry.report.contents?.document)
    return [
      "name": peer.name, "users": peer.users, "place": peer.file == nil ? "keyring" : "file",
      "path": peer.file, "schema": peer.schema, "is_encrypted": peer.file == nil,
      "account_count": document?.accountCount, "record_count": document?.recordCount,
      "findings": entry.findings.map { finding -> Members in
        ["kind": finding.kind.rawValue, "path": finding.path, "detail": finding.detail]
      },
    ]
  }

  private static func print(_ entries: [Entry]) {
    guard !entries.isEmpty else { return Terminal.note("No token caches of other programs found.") }
    Table.print(
      [
        .init("NAME", minimum: 12), .init("KEPT", minimum: 9) { $0 == "encrypted" ? nil : .yellow },
        "ACCOUNTS", "RECORDS", .init("WHERE", minimum: 12), .init("USED BY", minimum: 10),
      ],
      rows: entries.map { entry in
        let (peer, document) = (entry.report.peer, entry.report.contents?.document)
        return [
          peer.name, peer.file == nil ? "encrypted" : "PLAINTEXT",
          document.map { "\($0.accountCount)" } ?? "?", document.map { "\($0.recordCount)" } ?? "?",
          peer.file ?? peer.schema ?? "-", peer.users,
        ]
      })
    for entry in entries {
      for finding in entry.findings {
        Terminal.out(
          printable("\(entry.report.peer.name): \(finding.detail)") + advice(finding.kind, entry.report.peer))
      }
    }
  }

  private static func advice(_ kind: PeerFinding.Kind, _ peer: PeerCache) -> String {
    switch kind {
    case .plaintext: " \"llavero adopt\" with the name moves them into the store."
    case .readableByOthers, .staleLock: " \"llavero doctor --fix\" fixes that."
    case .plaintextSecrets, .damaged: peer.removalAdvice.map { " " + $0 } ?? ""
    case .orphanedRefreshTokens, .duplicates, .copies: ""
    }
  }
}

extension PeerFinding {
  /// Closes a file to others or removes a lock file of a dead program, on a thread that may wait for another program's
  /// lock.
  func fix() async throws(CacheError) {
    try await BlockingQueue(label: "llavero.fix").run(
      timeout: .seconds(5), onCancel: CacheError(.cancelled, "It was cancelled."),
      onTimeout: CacheError(.timedOut, "Another program holds the lock."), mend)
  }
}
