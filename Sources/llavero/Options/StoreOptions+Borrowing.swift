import ArgumentParser
import Borrowing
import HTTPSupport
import Synchronization

/// Where the tool has its tokens from.
enum TokenOrigin: Sendable, Hashable {
  /// The store of this machine, which keeps them.
  case store
  /// Somebody who lends them at a Unix socket.
  case lender(socket: String)

  static let forms = "unix:PATH, the socket of \"llavero lend\", or off"

  /// - Returns: `nil` for a text that names neither.
  init?(_ text: String) {
    if text == "off" {
      self = .store
    } else if text.hasPrefix("unix:"), text != "unix:" {
      self = .lender(socket: String(text.dropFirst("unix:".count)))
    } else {
      return nil
    }
  }

  /// Why a text names neither.
  static func refusal(of text: String) -> String {
    guard text.hasPrefix("http:") || text.hasPrefix("https:") else { return "It should be \(forms)." }
    return
      "It should be \(forms). What is lent on a port is for the Azure SDKs, which find it by IDENTITY_ENDPOINT."
  }
}

/// Whether tokens are borrowed.
struct BorrowOptions: ParsableArguments {
  @Option(
    name: .customLong("from"),
    help: ArgumentHelp(
      "Borrow the tokens of who lends them at a socket, and keep none; off has them from the store.",
      valueName: "unix:PATH|off"),
    transform: { text in
      guard let origin = TokenOrigin(text) else { throw ValidationError(TokenOrigin.refusal(of: text)) }
      return origin
    })
  var origin: TokenOrigin?

  func validate() {
    if let origin { StoreOptions.commandLine.withLock { $0 = origin } }
  }
}

/// Reaches a lender's socket.
typealias LenderTransport =
  @Sendable (_ path: String) throws(Failure.Message) -> any HTTPTransport

extension StoreOptions {
  private static let lenderTransport = Mutex<LenderTransport?>(nil)
  /// What the process's command line says of it: not every command that has a store has the option, too.
  fileprivate static let commandLine = Mutex<TokenOrigin?>(nil)

  /// Says how this process reaches lenders.
  static func reachLenders(by transport: @escaping LenderTransport) {
    lenderTransport.withLock { $0 = transport }
  }

  private var namedSocket: String? {
    let origin = Self.commandLine.withLock { $0 } ?? Settings.current.origin
    return if case .lender(let path) = origin { path } else { nil }
  }

  /// The socket at which tokens are borrowed; `nil` where they are kept. To borrow and to name a store on the command
  /// line ends the process.
  var lenderSocket: String? {
    guard let path = namedSocket else { return nil }
    guard named.isEmpty else {
      Failure.exit(
        with: Failure.Message(
          code: .usage, name: "borrowed",
          message: "Tokens are borrowed from unix:\(path), and the command line names a store.",
          advice: "Leave out the store and its key, or set LLAVERO_FROM to off."))
    }
    return path
  }

  /// The lender; `nil` where tokens are kept.
  var lender: LoanBroker? {
    get throws(Failure.Message) {
      guard let path = lenderSocket, let transport = Self.lenderTransport.withLock({ $0 }) else { return nil }
      return LoanBroker(transport: try transport(path))
    }
  }

  /// Ends the process where tokens are borrowed, for there is no store then.
  func requireStore() {
    guard let path = namedSocket else { return }
    Failure.exit(
      with: Failure.Message(
        code: .usage, name: "borrowed",
        message: "Tokens are borrowed from unix:\(path), so this command has no store to work on.",
        advice: "Do it where the tokens are lent, or set LLAVERO_FROM to off for a store of this machine."
      ))
  }
}
