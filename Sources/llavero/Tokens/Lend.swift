import ArgumentParser
import FoundationEssentials
import GLibSupport
import IdentityClient
import Lending
import TokenCache

struct Lend: AsyncParsableCommand {
  static let configuration = LendOptions.configuration

  private struct Result: Encodable {
    var from: String?
    var identityEndpoint: String?
    var identityHeader: String?
    let scopes: [String]
    let homeAccountId: String
    let username: String?
    let expiresOn: Date
  }

  @OptionGroup var options: LendOptions

  func run() async throws {
    let client = try options.client.networkClient(broker: options.broker.policy)
    let loan = try Loan(
      scopes: options.scopes, account: try await client.account(named: options.account.named),
      clientID: client.configuration.clientID, authority: client.configuration.authority,
      duration: .seconds(options.duration?.seconds ?? 8 * 3600))
    let question = options.ask ? try await LendQuestion(account: loan.account) : nil
    let lender: Lender
    do throws(LendingError) {
      lender = try Lender(
        loan, at: place, client: client, isOpenToAnyUser: options.isOpenToAnyUser, asking: question?.ask,
        log: Self.report)
    } catch {
      throw Failure.Message(
        name: "cannot_listen", message: error.description,
        advice: "Choose another place with --socket or --port, or end the other program.")
    }
    try show(lender)
    await lender.run()
    await client.finishRenewals()
  }

  private var place: Lender.Place {
    if let descriptor = options.inheritedDescriptor { return .passedSocket(descriptor: descriptor) }
    return options.port.map { .port($0) } ?? .socket(path: options.socket)
  }

  /// Prints what a borrower has to set.
  private func show(_ lender: Lender) throws {
    let loan = lender.loan
    var result = Result(
      scopes: loan.scopes.map { $0.joined(separator: " ") }, homeAccountId: loan.account.homeAccountID,
      username: loan.account.username, expiresOn: lender.end)
    var lines: [String]
    switch lender.address {
    case .socket(let path):
      result.from = "unix:" + path
      lines = ["LLAVERO_FROM=unix:" + path]
    case .endpoint(let url, let secret):
      (result.identityEndpoint, result.identityHeader) = (url.absoluteString, secret)
      lines = ["IDENTITY_ENDPOINT=" + url.absoluteString, "IDENTITY_HEADER=" + secret]
    }
    let name = loan.account.username ?? loan.account.homeAccountID
    Terminal.error(
      printable(
        "Lending \(result.scopes.joined(separator: "; ")) of \(name) until \(lender.end.formatted(.iso8601))."
      ))
    if options.output.json { lines = [try json(result)] }
    Terminal.out(lines.joined(separator: "\n"))
  }

  private static func report(_ event: LendingEvent) {
    let request = [event.path ?? "another path", event.scopes.joined(separator: " ")].filter { !$0.isEmpty }
    let outcome = ["\(event.status)", event.error].compactMap(\.self).joined(separator: " ")
    Terminal.error(
      printable(
        "\(event.date.formatted(.iso8601)) \(request.joined(separator: " ")): \(outcome), \(event.borrower.name)"
      ))
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
