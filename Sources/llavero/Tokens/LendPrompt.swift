import GLibSupport
import Glibc
import Lending
import TokenCache

/// Asks whether a program may borrow: on the terminal, or without one in the foreground, by a desktop notification.
struct LendPrompt: Sendable {
  /// How long the person has to answer; no answer means no.
  private static let timeout = Duration.seconds(60)

  private let account: Account
  /// Not while a command runs in the foreground, which may read from it.
  private let usesTerminal: Bool
  private let queue = BlockingQueue(label: "llavero.prompt")

  /// - Throws: `Failure` where no question can be shown.
  init(account: Account, usesTerminal: Bool) async throws(Failure) {
    (self.account, self.usesTerminal) = (account, usesTerminal)
    if foregroundTerminal({ _ in true }) == true { return }
    let unavailable = Failure(
      "nobody_to_ask",
      usesTerminal
        ? "--ask needs a terminal, or a desktop that shows notifications with buttons."
        : "--ask with a command needs a desktop that shows notifications with buttons.",
      advice: "Leave out --ask, or run \"llavero lend\" in a terminal, without a command.")
    let canAsk = try await queue.run(timeout: Self.timeout, onCancel: unavailable, onTimeout: unavailable) {
      (cancellable) throws(Failure) in DesktopQuestion.isAvailable(cancellable)
    }
    if !canAsk { throw unavailable }
  }

  @Sendable func ask(_ borrower: Borrower, _ scopes: [String]) async -> Bool? {
    let whose = account.username ?? account.homeAccountID
    let late = CancellationError()
    let text = printable("Lend \(scopes.joined(separator: " ")) of \(whose) to \(borrower.name)?")
    return try? await queue.run(timeout: Self.timeout, onCancel: late, onTimeout: late) {
      (cancellable) throws(CancellationError) -> Bool? in
      if let answer = foregroundTerminal({ Self.answer(to: text, on: $0, cancellable) }) {
        return answer
      }
      let question = DesktopQuestion(
        title: "Lend an access token?", text: text, yes: "Lend", no: "Do not lend")
      return try? question.answer(cancellable)
    }
  }

  /// Calls `body` with the terminal, if this process may read from it.
  private func foregroundTerminal<T>(_ body: (Int32) -> T) -> T? {
    guard usesTerminal else { return nil }
    let terminal = unsafe open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard terminal >= 0 else { return nil }
    defer { close(terminal) }
    return tcgetpgrp(terminal) == getpgrp() ? body(terminal) : nil
  }

  private static func answer(to question: String, on terminal: Int32, _ cancellable: Cancellable) -> Bool? {
    // Discards what was typed before the question.
    tcflush(terminal, TCIFLUSH)
    _ = writeAll(Array("\(question) [y/N] ".utf8).span, to: terminal)
    var events = [pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)]
    guard unsafe poll(&events, 1, cancellable.remainingMilliseconds) > 0 else {
      _ = writeAll(Array("\n".utf8).span, to: terminal)
      return nil
    }
    var line = [UInt8](repeating: 0, count: 4096)
    let count = unsafe read(terminal, &line, line.count)
    let answer = String(decoding: line.prefix(max(count, 0)), as: UTF8.self).trimmed.lowercased()
    return answer == "y" || answer == "yes"
  }
}
