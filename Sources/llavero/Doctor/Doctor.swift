import ArgumentParser
import EncryptedFileStore
import EtcdStore
import FoundationEssentials
import IdentityClient
import Sealing
import SecretService
import TokenCache

struct Doctor: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Say what works here, what does not, and what to do about it.",
    discussion: """
      Looks at the session bus, the keyring, the groups in it, the lock files, the caches of other programs, \
      the clock, the trusted certificates, the browser and the machine's identity broker, which is asked for a \
      token that is not kept. It writes, reads and deletes an item of its own. \
      Nothing else is changed, unless --fix is given: that merges duplicates, closes files and directories of \
      yours that are open to others, and removes lock files of dead programs. It deletes no token.

      Where tokens are borrowed it asks the lender what is lent, for no token, and looks at nothing else.

      With --store file it looks at the encrypted files instead of the keyring: whose they are, whether the \
      key opens them, and what is damaged, missing or older than it should be. With --store etcd it looks at each of \
      the cluster's members: its version, how fast it answers, who leads, how full the database is, whose clock is wrong, \
      what the user may do, and whether changes are told of.

      The exit code is 0 when all is well or there are only warnings, and 1 when there are problems.

      Examples:
        llavero doctor
        llavero doctor --store file --key file:/etc/example/cache.key

      JSON: state (of the worst finding), findings: [check, state (ok, mended, warning or problem), message, \
      advice].
      """)

  /// Each chain ends with its first problem: what comes after it could not work.
  private func chains(_ store: any CacheStore) -> [[any Check]] {
    let keyring: [any Check] = [
      SessionBusCheck(), ServiceCheck(), EncryptionCheck(), PromptCheck(), CollectionCheck(),
    ]
    let groups: [any Check] = [GroupsCheck(), ClockCheck()]
    let others: [[any Check]] = [
      [SourcesCheck()], [CABundleCheck()], [BrowserCheck()], [brokerCheck],
    ]
    guard let sealed = store as? any SealedStore else {
      return [keyring + [ProbeCheck()] + groups, [LockDirectoryCheck()]] + others
    }
    var place: [any Check] = self.store.usesKeyring ? keyring : []
    if self.store.chosenKey == .portal { place.append(PortalCheck()) }
    if let files = store as? EncryptedFileCacheStore { place.append(SealedFilesCheck(store: files)) }
    if let etcd = store as? EtcdCacheStore {
      place += [EtcdCheck(store: etcd), EtcdRightsCheck(store: etcd), EtcdWatchCheck(store: etcd)]
    }
    return [place + [SealedKeyCheck(store: sealed), SealedProbeCheck(store: sealed)] + groups] + others
  }

  /// For the configured client, whose accounts the broker lists.
  private var brokerCheck: BrokerCheck {
    let policy = Settings.current.broker ?? .automatic
    guard let client = try? ClientOptions.parse([]), let scopes = try? ScopeOptions.parse([]).scopes,
      let id = try? client.clientID, let authority = try? client.namedAuthority
    else { return BrokerCheck(client: nil, policy: policy) }
    return BrokerCheck(client: (id, authority, scopes), policy: policy)
  }

  private struct Result: Encodable {
    struct Line: Encodable {
      let check: String
      let state: Finding.State
      let message: String
      let advice: String?
    }
    let state: Finding.State
    let findings: [Line]
  }

  @OptionGroup var store: StoreOptions
  @OptionGroup var borrowing: BorrowOptions
  @OptionGroup var output: OutputOptions

  @Flag(help: "Mend what is safe to mend.")
  var fix = false

  func run() async throws {
    Settings.passOverUnknown()
    let lender = try store.lender
    let place: any CacheStore = lender == nil ? try store.store : InMemoryStore()
    let chains =
      try lender.map { [[LenderCheck(lender: $0, address: "unix:\(try store.lenderSocket ?? "")")]] }
      ?? chains(place)
    let configuration: [any Check] = [ConfigurationCheck()]
    let patient = Patient(options: store, store: place)
    var lines: [Result.Line] = []
    for chain in [configuration] + chains {
      for check in chain {
        var worst = Finding.State.ok
        for var finding in await check.findings(patient) {
          if fix { finding = await finding.mended() }
          let line = Result.Line(
            check: type(of: check).name, state: finding.state, message: finding.message,
            advice: finding.advice ?? (finding.canBeMended ? patient.command("doctor", "--fix") : nil))
          if !output.json { Self.print(line) }
          lines.append(line)
          worst = max(worst, finding.state)
        }
        if worst == .problem { break }
      }
    }
    let state = lines.map(\.state).max() ?? .ok
    if output.json { Terminal.out(try json(Result(state: state, findings: lines))) }
    if state == .problem { throw ExitCode(Failure.Code.error.rawValue) }
  }

  private static func print(_ line: Result.Line) {
    let style: Style =
      switch line.state {
      case .ok, .mended: .green
      case .warning: .yellow
      case .problem: .red
      }
    let state = Terminal.output.styled(line.state.rawValue, style)
    let padding = String(repeating: " ", count: "problem  ".count - line.state.rawValue.count)
    Terminal.out(state + padding + printable(line.message))
    if let advice = line.advice { Terminal.out("         " + printable(advice)) }
  }
}
