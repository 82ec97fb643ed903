import ArgumentParser
import EncryptedFileStore
import EtcdStore
import FoundationEssentials
import HTTPSupport
import IdentityClient
import Sealing
import SecretService
import TokenCache

struct Doctor: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Diagnose problems.",
    discussion: """
      Checks the session bus, the keyring, its groups, the lock files, the caches of other programs, the \
      clock, the trusted certificates, the authority, the browser, the identity broker, and what git, az, azd \
      and kubectl take credentials from. The broker is asked for a token that is not stored. It writes, reads and \
      deletes an item of its own, and changes nothing else. With --unlock it makes a missing default collection.

      With --fix it merges duplicates, closes your files and directories that are open to others, and removes \
      lock files of dead programs. Then it names each entry that cannot be read or that an older copy \
      replaced, and asks before it removes or accepts them. In scripts add --yes.

      With --store file it checks the encrypted files instead of the keyring: their owner, whether the key \
      opens them, and what is damaged, missing or out of date. For etcd it checks each member of the \
      cluster, the user's permissions, and whether changes are reported. Where tokens are borrowed it only \
      asks the lender what it lends.

      The exit code is 0 without problems (warnings do not count), 1 with problems, 3 where --fix needs a \
      confirmation, and 5 after a no or when it is cancelled.

      Examples:
        llavero doctor
        llavero doctor --fix
        llavero doctor --store file --key file:/etc/example/cache.key

      JSON: state (of the worst finding), findings: [check, state (ok, fixed, warning or problem), message, \
      advice], with --fix also fixed: [check, message; for each entry also group, kind, shard].
      """)

  @Flag(help: "Fix problems, and remove unreadable entries.")
  var fix = false

  @Flag(name: .shortAndLong, help: "With --fix, remove entries without asking.")
  var yes = false

  @Flag(help: "Do not ask the authority, nor compare the clock with it.")
  var offline = false

  @OptionGroup var output: OutputOptions
  @OptionGroup var lenderOptions: LenderOptions
  @OptionGroup(title: "Store options") var store: StoreOptions

  mutating func validate() throws {
    store.origin = lenderOptions.origin
    guard fix || !yes else { throw ValidationError("--yes is for --fix.") }
  }

  func run() async throws {
    // So that the probe is removed.
    Interruption.beginCancelling()
    Settings.ignoreUnknown()
    var place: any CacheStore = InMemoryStore()
    let chains: [[Check]]
    if case .failure = Settings.loaded {
      // The other checks depend on settings.
      chains = []
    } else if let lender = try store.lender {
      chains = [[.lender(lender, at: "unix:\(store.socket ?? "")")]]
    } else {
      do {
        place = try store.store
        chains = self.chains
      } catch let error as HTTPTransportError {
        // The connection to etcd cannot be set up.
        chains = [[.etcdCA, Check(name: "etcd") { _ in .problem(error) }]] + others
      }
    }
    let setup = CheckedSetup(options: store, store: place)
    var fixes = fix ? Fixes(setup: setup, isConfirmed: yes, isQuiet: output.json) : nil
    var (lines, state): ([Members], Finding.State) = ([], .ok)
    for chain in [[.configuration]] + chains {
      for check in chain {
        var worst = Finding.State.ok
        let findings = await check.findings(setup)
        // A check that is cancelled fails, which says nothing of what it examines.
        if Task.isCancelled {
          if output.json, let fixes, !fixes.fixed.isEmpty {
            try Terminal.out(["state": state, "findings": lines, "fixed": fixes.fixed])
          }
          throw Failure.cancelled("The checks were cancelled.")
        }
        for found in findings {
          let finding = await fixes?.apply(to: found, of: check.name) ?? found
          let advice = finding.advice ?? (finding.remedy == nil ? nil : store.command(["doctor", "--fix"]))
          if !output.json { Self.print(finding, advice) }
          lines.append([
            "check": check.name, "state": finding.state, "message": finding.message, "advice": advice,
          ])
          worst = max(worst, finding.state)
        }
        state = max(state, worst)
        if worst == .problem { break }
      }
    }
    if output.json { try Terminal.out(["state": state, "findings": lines, "fixed": fixes?.fixed]) }
    if let refusal = fixes?.refusal { throw refusal }
    if state == .problem { throw ExitCode(Failure.Code.error.rawValue) }
  }

  /// Returns chains of checks, each of which ends with its first problem: later checks could not succeed.
  private var chains: [[Check]] {
    let settings = store.settings
    let keyring: [Check] = [.sessionBus, .service, .encryption, .prompt, .collection]
    let groups: [Check] = [.groups, .clock]
    let others = (settings.usesKeyring ? [[.password]] : []) + others
    // First, since groups cannot be fixed while the lock directory is open to others.
    guard settings.kind.takesKey else { return [[.lockDirectory], keyring + [.probe] + groups] + others }
    let place: [Check] = [.secretPortal, .sealedFiles, .etcdCA, .etcd, .etcdRights, .etcdWatch]
    return [(settings.usesKeyring ? keyring : []) + place + [.sealedKey, .sealedProbe] + groups] + others
  }

  /// The checks of what is beside the store.
  private var others: [[Check]] {
    // A command with what the settings say of the client.
    let configured = try? Token.parse([])
    let connection: [Check] = [.caBundle, .authority(configured, offline: offline)]
    return [[.otherCaches], connection, [.browser], [brokerCheck(configured)], [.otherPrograms]]
  }

  /// The check for the configured client, whose accounts the broker lists.
  private func brokerCheck(_ configured: Token?) -> Check {
    let policy = Settings.current.broker ?? .automatic
    guard let configured, let id = try? configured.clientID,
      let authority = try? configured.namedAuthority
    else { return .broker(nil, policy) }
    return .broker((id, authority, configured.scope.scopes), policy)
  }

  private static func print(_ finding: Finding, _ advice: String?) {
    let style: Style =
      switch finding.state {
      case .ok, .fixed: .green
      case .warning: .yellow
      case .problem: .red
      }
    let state = Terminal.output.styled(finding.state.rawValue, style)
    let padding = String(repeating: " ", count: "problem  ".count - finding.state.rawValue.count)
    Terminal.out(state + padding + printable(finding.message))
    if let advice { Terminal.out("         " + printable(advice)) }
  }
}

/// Applies the remedies of findings, and asks before entries are removed.
private struct Fixes {
  let setup: CheckedSetup
  let isConfirmed: Bool
  let isQuiet: Bool
  /// What was fixed: a finding, or one entry of it.
  var fixed: [Members] = []
  /// Why entries were left: no confirmation was possible, or the answer was no.
  var refusal: Failure?
  /// One removal serves all findings about a group, so it is asked for and done once.
  var removals: [KeychainGroup: Result<Bool, any Error>] = [:]

  mutating func apply(to finding: Finding, of check: String) async -> Finding {
    do {
      switch finding.remedy {
      case nil: return finding
      case .safe(let fix):
        try await fix()
        fixed.append(["check": check, "message": finding.message])
      case .removal(let entries): if try await !isDone(entries, check) { return finding }
      }
      return Finding(state: .fixed, message: finding.message)
    } catch {
      let reason = (error as? CacheError)?.message ?? "\(error)"
      return Finding(state: finding.state, message: finding.message, advice: "Fixing it failed: \(reason)")
    }
  }

  private mutating func isDone(_ entries: UnreadableEntries, _ check: String) async throws -> Bool {
    if let earlier = removals[entries.group] { return try earlier.get() }
    do {
      let isDone = try await remove(entries, check)
      removals[entries.group] = .success(isDone)
      return isDone
    } catch {
      removals[entries.group] = .failure(error)
      throw error
    }
  }

  private mutating func remove(_ entries: UnreadableEntries, _ check: String) async throws -> Bool {
    let removed: UnreadableEntries?
    do {
      removed = try await entries.remove(
        from: setup.store, isConfirmed: isConfirmed,
        advice: "Run: " + setup.options.command(["doctor", "--fix", "--yes"]))
    } catch let error as Failure {
      refusal = refusal ?? error
      return false
    }
    guard let entries = removed else { return true }
    if !isQuiet { entries.descriptions("was").forEach(Terminal.out) }
    fixed += entries.problems.map {
      [
        "check": check, "message": $0.detail, "group": entries.group.name, "kind": $0.kind.rawValue,
        "shard": $0.shard?.rawValue,
      ]
    }
    return true
  }
}
