public import Configuration
import Dispatch
import Localization
public import SecretService
import Synchronization
import TokenCache

/// Asks a person for a passphrase or password, again where the one that was entered is wrong; `nil` where the person does not
/// enter one.
public typealias PassphraseQuestion =
  @Sendable (SecretQuestion, _ wasWrong: Bool) async -> SecretBytes?

/// Asks while a person unlocks the store, and at no other time: the window reads again and again.
final class PassphraseDialog: Sendable {
  /// Less than the ten minutes for which a store's call waits: this error says more than that of the call.
  private let limit: DispatchTimeInterval
  private let ask: PassphraseQuestion
  private let isAllowed = Atomic(false)
  private let question = Mutex<Task<Void, Never>?>(nil)
  /// What the person has entered for this work: the store that may prompt and the other ask the same.
  private let answers = Mutex<[SecretQuestion: SecretBytes]>([:])
  private let wasWrong = Atomic(false)

  init(limit: DispatchTimeInterval = .seconds(590), _ ask: @escaping PassphraseQuestion) {
    self.limit = limit
    self.ask = ask
  }

  /// Lets work ask, and begins it again while what the person enters is wrong. A question that the work no longer waits for is
  /// withdrawn.
  func allow(_ work: () async throws(CacheError) -> Void) async throws(CacheError) {
    isAllowed.store(true, ordering: .sequentiallyConsistent)
    defer {
      isAllowed.store(false, ordering: .sequentiallyConsistent)
      wasWrong.store(false, ordering: .sequentiallyConsistent)
      answers.withLock { $0 = [:] }
      question.withLock { $0?.cancel() }
    }
    while true {
      do throws(CacheError) {
        return try await work()
      } catch {
        guard error.code == .wrongKey, answers.withLock({ !$0.isEmpty }) else { throw error }
        wasWrong.store(true, ordering: .sequentiallyConsistent)
        answers.withLock { $0 = [:] }
      }
    }
  }

  /// Answers a store, on a thread that may wait. A question that is not answered in time is cancelled.
  func answer(_ question: SecretQuestion) throws(CacheError) -> SecretBytes {
    guard question != .newPassphrase else {
      throw CacheError(
        .unavailable, localized("The store does not exist yet."),
        advice: localized("Make it with “llavero setup” in a terminal."))
    }
    guard isAllowed.load(ordering: .sequentiallyConsistent) else {
      throw CacheError(
        .locked, localized("%s is needed to open the store.", question.subject), underlyingError: Needed())
    }
    if let known = answers.withLock({ $0[question] }) { return known }
    let answer = Mutex<SecretBytes?>(nil)
    let isAnswered = DispatchSemaphore(value: 0)
    let task = Task { [ask, wasWrong = wasWrong.load(ordering: .sequentiallyConsistent)] in
      let secret = await ask(question, wasWrong)
      answer.withLock { $0 = secret }
      isAnswered.signal()
    }
    self.question.withLock { $0 = task }
    // The work may have ended in between.
    if !isAllowed.load(ordering: .sequentiallyConsistent) { task.cancel() }
    let isInTime = isAnswered.wait(timeout: .now() + limit) == .success
    if !isInTime { task.cancel() }
    if let secret = answer.withLock({ $0 }) {
      answers.withLock {
        if isAllowed.load(ordering: .sequentiallyConsistent) { $0[question] = secret }
      }
      return secret
    }
    // Another read that waits for the same answer does not ask again.
    isAllowed.store(false, ordering: .sequentiallyConsistent)
    throw isInTime
      ? CacheError(
        .promptDismissed, localized("%s was not entered.", question.subject), underlyingError: Needed())
      : CacheError(
        .timedOut, localized("%s was not entered in time.", question.subject), underlyingError: Needed())
  }

  /// Why a store is locked: its passphrase or password has to be entered.
  struct Needed: Error {}
}

extension SecretQuestion {
  /// What is asked for, at the start of a sentence.
  public var subject: String {
    switch self {
    case .passphrase: localized("The passphrase")
    case .newPassphrase: localized("A new passphrase")
    case .password(let user): localized("The password of the etcd user %s", user)
    }
  }
}
