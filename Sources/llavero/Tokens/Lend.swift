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
    abstract: "Lend access tokens to programs without a cache: in containers, over SSH, of the Azure SDKs.",
    discussion: """
      Serves tokens for just these scopes, of just this account, until the time is over or Ctrl-C. Each --scope \
      is one token; several scopes of one token stand in one --scope, separated by spaces. Whoever borrows gets \
      access tokens and nothing else, and asks for no more than is lent. Printed is what a borrower has to set; \
      each request is a line on standard error.

      A socket is for programs of the same user, here, in a container that its directory is mounted into, or by \
      "ssh -R". A port is for the Azure SDKs, which need no change. Started by systemd with a socket, it serves \
      that.

      Examples:
        llavero lend --scope https://graph.microsoft.com/User.Read --for 2h
        llavero lend --scope https://management.azure.com/.default --port 0 --ask

      JSON: from, identity_endpoint, identity_header, scopes, home_account_id, username, expires_on.
      """)

  private struct Result: Encodable {
    var from: String?
    var identityEndpoint: String?
    var identityHeader: String?
    let scopes: [String]
    let homeAccountId: String
    let username: String?
    let expiresOn: Date
  }

  @OptionGroup var client: ClientOptions
  @OptionGroup var account: AccountOptions
  @OptionGroup var broker: BrokerOptions
  @OptionGroup var output: OutputOptions

  @Option(
    name: .customLong("scope"),
    help: "What to lend, such as https://graph.microsoft.com/User.Read; can be repeated.")
  var named: [String] = []

  @Option(
    name: .customLong("for"),
    help: "For how long, such as 90s, 10m or 8h; 8h unless told otherwise, 168h at most.")
  var duration: Validity?

  @Option(
    help: "The socket's name; one in a directory of its own in the runtime directory unless another is given."
  )
  var socket: String?

  @Option(help: "Serve this port of the loopback interface in place of a socket; 0 takes any free one.")
  var port: UInt16?

  @Flag(help: "Ask on the terminal, or by a desktop notification, before the first token for each program.")
  var ask = false

  @Flag(name: .customLong("any-user"), help: "Let other users borrow, too, who can reach the socket.")
  var isOpenToAnyUser = false

  func validate() throws {
    guard !scopes.isEmpty, !scopes.contains(where: \.isEmpty) else {
      throw ValidationError("Say with --scope what to lend.")
    }
    guard socket == nil || port == nil else { throw ValidationError("Give --socket or --port, not both.") }
    guard socket != "" else { throw ValidationError("Name a socket with --socket.") }
    guard !isOpenToAnyUser || port == nil else {
      throw ValidationError("Whoever has the secret may use a port: leave out --any-user.")
    }
    guard passedSockets <= 1 else {
      throw ValidationError("systemd has passed \(passedSockets) sockets: one is all that is served.")
    }
    guard inheritedDescriptor == nil || socket == nil && port == nil else {
      throw ValidationError("systemd has passed a socket: leave out --socket and --port.")
    }
  }

  func run() async throws {
    let client = try client.networkClient(broker: broker.policy)
    let loan = try Loan(
      scopes: scopes, account: try await client.account(named: account.named),
      clientID: client.configuration.clientID, authority: client.configuration.authority,
      duration: .seconds(duration?.seconds ?? 8 * 3600))
    let question = ask ? try await LendQuestion(account: loan.account) : nil
    let log = LendLog()
    let lender: Lender
    do throws(LendingError) {
      lender = try Lender(
        loan, at: place, client: client, isOpenToAnyUser: isOpenToAnyUser, asking: question?.ask,
        log: log.report)
    } catch {
      throw Failure.Message(
        name: "cannot_listen", message: error.description,
        advice: "Choose another place with --socket or --port, or end the other program.")
    }
    try show(lender, log)
    await lender.run()
    await client.awaitRenewals()
    await log.finish()
  }

  /// One sign-in is for one resource.
  var signInScopes: [String] { scopes.first ?? [] }

  /// Each is the scopes of one token.
  private var scopes: [[String]] { named.map { $0.split(separator: " ").map(String.init) } }

  /// The socket that systemd has passed, if it has (`sd_listen_fds(3)`).
  private var inheritedDescriptor: Int32? { passedSockets > 0 ? 3 : nil }

  private var passedSockets: Int {
    let environment = processEnvironment()
    guard environment["LISTEN_PID"] == "\(getpid())" else { return 0 }
    return environment["LISTEN_FDS"].flatMap { Int($0) } ?? 0
  }

  private var place: Lender.Place {
    if let descriptor = inheritedDescriptor { return .passedSocket(descriptor: descriptor) }
    return port.map { .port($0) } ?? .socket(path: socket)
  }

  /// Prints what a borrower has to set.
  private func show(_ lender: Lender, _ log: LendLog) throws {
    let loan = lender.loan
    var result = Result(
      scopes: loan.scopes.map { $0.joined(separator: " ") }, homeAccountId: loan.account.homeAccountID,
      username: loan.account.username, expiresOn: lender.loan.end)
    var lines: [String]
    switch lender.address {
    case .socket(let path):
      // It would be another line of what a shell reads.
      guard printable(path) == path else {
        throw Failure.Message(
          code: .usage, name: "cannot_listen",
          message: "The socket's path has a character that cannot be printed.",
          advice: "Choose another place with --socket.")
      }
      result.from = "unix:" + path
      lines = ["LLAVERO_FROM=unix:" + path]
    case .endpoint(let url, let secret):
      (result.identityEndpoint, result.identityHeader) = (url.absoluteString, secret)
      lines = ["IDENTITY_ENDPOINT=" + url.absoluteString, "IDENTITY_HEADER=" + secret]
    }
    let name = loan.account.username ?? loan.account.homeAccountID
    if output.json { return Terminal.out(try json(result)) }
    log.add(
      printable(
        "Lending \(result.scopes.joined(separator: "; ")) of \(name) until \(lender.loan.end.formatted(.iso8601))."
      ))
    Terminal.out(lines.joined(separator: "\n"))
  }
}

extension Borrower {
  /// Who it is, in words.
  var name: String {
    var words: [String] = []
    if let process { words.append("process \(process)" + (command.map { " (\($0))" } ?? "")) }
    if let user { words.append((process == nil ? "a process " : "") + "of user \(user)") }
    return words.isEmpty ? "a program at the port" : words.joined(separator: " ")
  }
}
