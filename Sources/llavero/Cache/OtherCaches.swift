import ArgumentParser
import MSALExtensionsStore
import SecretService
import TokenCache

struct Sources: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sources",
    abstract: "List the token caches that other programs keep on this machine.",
    discussion: """
      Those of Azure CLI, the Azure SDKs, Git Credential Manager, azureauth and others, in the keyring or in \
      files in clear, and what their faults left behind. With --fix, files with tokens are closed to others \
      and lock files of dead programs removed; nothing else is changed.

      Example:
        llavero sources

      JSON: sources: [name, users, place (keyring or file), path, schema, is_encrypted, accounts and records \
      (how many; left out for what cannot be read), findings: [kind, path, detail, fixed]], warnings \
      (what could not be looked at or fixed).
      """)

  private struct Result: Encodable {
    struct Source: Encodable {
      let name: String
      let users: String
      let place: String
      let path: String?
      let schema: String?
      let isEncrypted: Bool
      let accounts: Int?
      let records: Int?
      let findings: [Finding]
    }
    struct Finding: Encodable {
      let kind: String
      let path: String?
      let detail: String
      let fixed: Bool
    }
    let sources: [Source]
    let warnings: [String]
  }

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  @Flag(help: "Close files with tokens to others, and remove the lock files of dead programs.")
  var fix = false

  func run() async throws {
    try store.requireStore()
    let client = store.connection
    var (sources, failure): ([Result.Source], CacheError?) = ([], nil)
    var warnings: [String] = []
    // Several caches may share a lock file.
    var known: Set<PeerFinding> = []
    for peer in PeerRegistry().caches {
      // A problem with one item is a problem with all.
      if failure != nil && peer.file == nil { continue }
      do throws(CacheError) {
        let report = try await store.store(of: peer, group: .default, client: client).inspect()
        guard report.isPresent else { continue }
        var findings: [Result.Finding] = []
        for finding in report.findings where known.insert(finding).inserted {
          findings.append(await self.finding(finding, &warnings))
        }
        if report.contents?.copies == 0 && findings.isEmpty { continue }
        sources.append(Self.source(report, findings))
      } catch {
        guard peer.file != nil else {
          failure = error
          continue
        }
        warnings.append(error.message)
      }
    }
    try print(sources, warnings)
    if let failure { throw failure }
  }

  private func finding(_ finding: PeerFinding, _ warnings: inout [String]) async -> Result.Finding {
    var isFixed = fix && finding.isMendable
    do throws(CacheError) {
      if isFixed { try await finding.mend() }
    } catch {
      isFixed = false
      warnings.append(error.message)
    }
    return Result.Finding(
      kind: finding.kind.rawValue, path: finding.path, detail: finding.detail, fixed: isFixed)
  }

  private static func source(_ report: PeerReport, _ findings: [Result.Finding]) -> Result.Source {
    let document = report.contents?.document
    return Result.Source(
      name: report.peer.name, users: report.peer.users, place: report.peer.file == nil ? "keyring" : "file",
      path: report.peer.file, schema: report.peer.schema, isEncrypted: report.peer.file == nil,
      accounts: document?.accountCount,
      records: document?.recordCount, findings: findings)
  }

  private func print(_ sources: [Result.Source], _ warnings: [String]) throws {
    if output.json { return Terminal.out(try json(Result(sources: sources, warnings: warnings))) }
    for warning in warnings { Terminal.error("warning: " + printable(warning)) }
    guard !sources.isEmpty else { return Terminal.error("No token cache of another program was found.") }
    var table = Table([
      .init(title: "NAME", minimum: 12), .init(title: "KEPT", minimum: 9), .init(title: "ACCOUNTS"),
      .init(title: "RECORDS"), .init(title: "WHERE", minimum: 12), .init(title: "USED BY", minimum: 10),
    ])
    for source in sources {
      table.add([
        source.name, source.isEncrypted ? "encrypted" : "IN CLEAR", source.accounts.map { "\($0)" } ?? "?",
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
    case .plaintext: " \"llavero adopt\" moves them into the keyring."
    case .readableByOthers, .staleLock: " \"llavero sources --fix\" mends that."
    default: ""
    }
  }
}
