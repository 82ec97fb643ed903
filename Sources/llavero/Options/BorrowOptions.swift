import ArgumentParser
import Lending

/// Whether tokens are borrowed. A command that has these options tells its ``StoreOptions``.
struct BorrowOptions: ParsableArguments {
  // Not parsed by the parser, as in ``parsed(_:_:_:)``.
  @Option(name: .customLong("from"), help: ArgumentHelp(.origin, "unix:PATH|off"))
  private var originText: String?

  /// The origin that the command line names.
  var origin: TokenOrigin?

  mutating func validate() throws {
    origin = try originText.map { try parsed($0, "--from", TokenOrigin.init(_:)) }
  }
}

extension StoreOptions {
  /// The socket at which tokens are borrowed; `nil` where they are stored.
  var socket: String? { (origin ?? Settings.current.origin)?.socket }

  /// The same.
  ///
  /// - Throws: `Failure.Message` of code `usage` where the command line names a store besides.
  var lenderSocket: String? {
    get throws(Failure.Message) {
      guard let path = socket, named != StoreSettings() else { return socket }
      throw Failure.Message(
        code: .usage, name: "borrowed",
        message: "Tokens are borrowed from unix:\(path), and the command line names a store.",
        advice: "Leave out the store and its key, or set LLAVERO_FROM to off.")
    }
  }

  /// The lender; `nil` where tokens are stored.
  var lender: LoanBroker? {
    get throws {
      guard let path = try lenderSocket else { return nil }
      return LoanBroker(transport: try Network.transport(toLenderAt: path))
    }
  }

  /// Throws where tokens are borrowed: there is no store then.
  func requireStore() throws(Failure.Message) {
    guard let path = socket else { return }
    throw Failure.Message(
      code: .usage, name: "borrowed",
      message: "Tokens are borrowed from unix:\(path), so this command has no store to work on.",
      advice: "Run it where the lender runs, or set LLAVERO_FROM to off for the store of this machine.")
  }
}
