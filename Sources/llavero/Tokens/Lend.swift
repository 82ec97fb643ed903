import ArgumentParser
import FoundationEssentials
import GLibSupport
import Glibc
import IdentityClient
import Lending
import TokenCache

struct Lend: AsyncParsableCommand, SignsIn {
  static let configuration = CommandConfiguration(
    commandName: "lend",
    abstract: "Lend access tokens to other programs.",
    discussion: """
      For programs in containers, in SSH sessions, or with the Azure SDKs. Serves access tokens of one account \
      for the given scopes, until the time has passed or Ctrl-C. Each --scope is one token; several scopes of one \
      token go into one --scope, separated by spaces. A borrower gets access tokens only, never a refresh \
      token, and no other scopes. The command prints the settings for borrowers, and logs each request on \
      standard error.

      A socket serves programs of the same user: here, in a container that mounts its directory, or through \
      "ssh -R". A port serves the Azure SDKs, which need no change. Started by systemd with a socket, the \
      command serves that one.

      With -- COMMAND, it runs COMMAND with the settings in its environment. The loan ends with COMMAND, whose \
      exit code is that of llavero; signals are passed on to it.

      Examples:
        llavero lend --scope https://graph.microsoft.com/User.Read --for 2h
        llavero lend --scope https://graph.microsoft.com/User.Read -- ./report
        llavero lend --scope https://management.azure.com/.default --port 0 --ask

      JSON: from, identity_endpoint, identity_header, scopes, home_account_id, username, expires_on.
      """)

  @Option(
    name: .customLong("scope"),
    help: ArgumentHelp(
      "Scopes to lend, such as https://graph.microsoft.com/User.Read.",
      valueName: "scopes"))
  var named: [String] = []

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp(
      "How long, such as 90s, 10m or 8h; at most 168h. (default: 8h)", valueName: "duration"),
    transform: Validity.init(_:))
  var duration: Validity?

  @Option(
    help: ArgumentHelp(
      "The socket's path. (default: one in the runtime directory)", valueName: "path"), completion: .file())
  var socket: String?

  @Option(
    help: ArgumentHelp("Serve a loopback port; 0: any free one.", valueName: "number"))
  var port: UInt16?

  @Flag(help: "Ask on the terminal or the desktop before each program's first token.")
  var ask = false

  @Flag(name: .customLong("any-user"), help: "Serve other users, too, who can reach the socket.")
  var isOpenToAnyUser = false

  @Argument(
    parsing: .postTerminator,
    help: ArgumentHelp("A command to run, with arguments.", valueName: "command"))
  var command: [String] = []

  @OptionGroup var account: AccountOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup(title: "Client options") var appOptions: AppOptions
  @OptionGroup var groupOption: GroupOption
  @OptionGroup(title: "Store options") var storeOptions: StoreOptions
  @OptionGroup(title: "Broker options") var broker: BrokerOptions

  func validate() throws {
    guard !scopes.isEmpty, !scopes.contains(where: \.isEmpty) else {
      throw ValidationError("Missing scopes to lend: add --scope.")
    }
    guard socket == nil || port == nil else {
      throw ValidationError("--socket and --port exclude each other.")
    }
    guard socket != "" else { throw ValidationError("Invalid --socket: expected a path.") }
    guard !isOpenToAnyUser || port == nil else {
      throw ValidationError("--any-user is for sockets: any user with the secret can use a port.")
    }
    guard passedSockets <= 1 else {
      throw ValidationError("systemd has passed \(passedSockets) sockets: expected one.")
    }
    guard passedSockets <= 0 || socket == nil && port == nil else {
      throw ValidationError("systemd has passed a socket: leave out --socket and --port.")
    }
    if let program = command.first {
      guard !output.json else { throw ValidationError("--json and a command exclude each other.") }
      guard programFile(program) != nil else { throw ValidationError("Command not found: \(program).") }
    }
  }

  func run() async throws {
    let client = try networkClient(broker: broker.policy)
    let loan = try Loan(
      scopes: scopes, account: try await client.account(named: account.named),
      clientID: client.configuration.clientID, authority: client.configuration.authority,
      duration: .seconds(duration?.seconds ?? 8 * 3600))
    let prompt = ask ? try await LendPrompt(account: loan.account, usesTerminal: command.isEmpty) : nil
    let log = LendLog()
    // A question on the terminal must not come before the settings.
    let (settingsShown, settings) = AsyncStream<Never>.makeStream()
    let question = prompt.map { prompt -> Lender.PermissionHandler in
      { borrower, scopes in
        for await _ in settingsShown {}
        return await prompt.ask(borrower, scopes)
      }
    }
    let (tokens, signIn) = (Lender.tokens(of: loan, from: client), signInAdvice)
    let place: Lender.Place =
      passedSockets > 0 ? .passedSocket(descriptor: 3) : port.map { .port($0) } ?? .socket(path: socket)
    let lender: Lender
    do throws(LendingError) {
      lender = try Lender(
        loan, at: place, isOpenToAnyUser: isOpenToAnyUser,
        token: { (scopes, renewal) async throws(IdentityError) in
          do throws(IdentityError) {
            let result = try await tokens(scopes, renewal)
            if let warning = result?.storageWarning { log.warn(warning) }
            return result
          } catch {
            // The borrower is told less.
            let failure = error.asFailure
            let advice = failure.needsSignIn ? signIn(failure.claims) : nil
            log.warn(sentences(failure.message, failure.advice, advice))
            throw error
          }
        }, asking: question,
        // Standard error is the command's: only refusals are shown there.
        log: { [isQuiet = !command.isEmpty] in if !isQuiet || $0.error != nil { log.report($0) } })
    } catch {
      throw Failure(
        "cannot_listen", error.description,
        advice: "Choose another address with --socket or --port, or end the other program.")
    }
    let variables = try variables(of: lender.address)
    var status: Int32 = 0
    if command.isEmpty {
      try await show(lender.loan, variables, log)
      settings.finish()
      await lender.run()
    } else {
      settings.finish()
      status = try await runCommand(with: variables)
      lender.close()
    }
    await client.awaitRenewals()
    await log.finish()
    if status != 0 { throw ExitCode(status) }
  }

  /// One sign-in is for one resource.
  var signInScopes: [String] { scopes.first ?? [] }

  /// The scopes of each token.
  private var scopes: [[String]] { named.map(ScopeSet.list) }

  /// How many sockets systemd passed, the first as descriptor 3 (`sd_listen_fds(3)`).
  private var passedSockets: Int {
    let environment = processEnvironment()
    guard environment["LISTEN_PID"] == "\(getpid())" else { return 0 }
    return environment["LISTEN_FDS"].flatMap { Int($0) } ?? 0
  }

  /// The settings for a borrower, by the names of their variables.
  private func variables(of address: Lender.Address) throws(Failure) -> KeyValuePairs<String, String> {
    switch address {
    case .socket(let path):
      // A line break would begin another line of what a shell reads.
      guard printable(path) == path else {
        throw Failure(
          "cannot_listen", "The socket's path has a control character.", code: .usage,
          advice: "Choose another path with --socket.")
      }
      return [Setting.origin.variable: "unix:" + path]
    case .endpoint(let url, let secret):
      return ["IDENTITY_ENDPOINT": url.absoluteString, "IDENTITY_HEADER": secret]
    }
  }

  /// Prints the settings.
  private func show(
    _ loan: Loan, _ variables: KeyValuePairs<String, String>, _ log: LendLog
  ) async throws {
    let scopes = loan.scopes.map { $0.joined(separator: " ") }
    if output.json {
      func value(_ name: String) -> String? { variables.first { $0.key == name }?.value }
      return try Terminal.out([
        "from": value(Setting.origin.variable), "identity_endpoint": value("IDENTITY_ENDPOINT"),
        "identity_header": value("IDENTITY_HEADER"), "scopes": scopes,
        "home_account_id": loan.account.homeAccountID, "username": loan.account.username,
        "expires_on": loan.end,
      ])
    }
    if !Terminal.isQuiet {
      let name = loan.account.username ?? loan.account.homeAccountID
      log.add(
        printable(
          "Lending \(scopes.joined(separator: "; ")) of \(name) until \(loan.end.formatted(.iso8601))."))
      await log.finish(within: .seconds(10))
    }
    Terminal.out(variables.map { "\($0)=\($1)" }.joined(separator: "\n"))
  }

  /// Runs the command to its end.
  ///
  /// - Returns: Its exit status.
  private func runCommand(with variables: KeyValuePairs<String, String>) async throws(Failure) -> Int32 {
    guard !Task.isCancelled else { throw .cancelled("\(command[0]) was not started.") }
    let environment = processEnvironment().merging(variables.map { ($0, $1) }) { $1 }
    let process: ChildProcess
    do {
      process = try Interruption.passing(
        to: ChildProcess(inForeground: command, environment: environment))
    } catch {
      throw Failure("cannot_run", "\(command[0]) cannot be started: \(error)")
    }
    defer { Interruption.endPassing() }
    let queue = BlockingQueue(label: "llavero.command")
    return await withCheckedContinuation { continuation in
      queue.add { continuation.resume(returning: process.wait()) }
    }
  }
}

extension Borrower {
  var name: String {
    var words: [String] = []
    if let process { words.append("process \(process)" + (command.map { " (\($0))" } ?? "")) }
    if let user { words.append((process == nil ? "a process " : "") + "of user \(user)") }
    if let unknownUserReason { words.append("a program whose user is unknown: \(unknownUserReason)") }
    return words.joined(separator: " ")
  }
}
