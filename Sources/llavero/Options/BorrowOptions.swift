import ArgumentParser
import Lending
import Synchronization

/// Where the tool has its tokens from.
enum TokenOrigin: Sendable, Hashable {
  /// The store of this machine, which keeps them.
  case store
  /// A lender at a Unix socket.
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

extension StoreOptions {
  /// What the process's command line says of it: not every command that has a store has the option, too.
  fileprivate static let commandLine = Mutex<TokenOrigin?>(nil)

  /// The socket at which this process borrows tokens.
  static var namedSocket: String? {
    let origin = commandLine.withLock { $0 } ?? Settings.current.origin
    return if case .lender(let path) = origin { path } else { nil }
  }

  /// The socket at which tokens are borrowed; `nil` where they are kept.
  ///
  /// - Throws: `Failure.Message` of code `usage` where the command line names a store besides.
  var lenderSocket: String? {
    get throws(Failure.Message) {
      guard let path = Self.namedSocket, !named.isEmpty else { return Self.namedSocket }
      throw Failure.Message(
        code: .usage, name: "borrowed",
        message: "Tokens are borrowed from unix:\(path), and the command line names a store.",
        advice: "Leave out the store and its key, or set LLAVERO_FROM to off.")
    }
  }

  /// The lender; `nil` where tokens are kept.
  var lender: LoanBroker? {
    get throws {
      guard let path = try lenderSocket else { return nil }
      return LoanBroker(transport: try Network.transport(toLenderAt: path))
    }
  }

  /// Passes only where tokens are kept: where they are borrowed there is no store.
  func requireStore() throws(Failure.Message) {
    guard let path = Self.namedSocket else { return }
    throw Failure.Message(
      code: .usage, name: "borrowed",
      message: "Tokens are borrowed from unix:\(path), so this command has no store to work on.",
      advice: "Do it where the tokens are lent, or set LLAVERO_FROM to off for a store of this machine.")
  }
}
