import CGLib
import Dispatch
import GLibSupport
import Synchronization

extension ServiceSession {
  /// Shows a prompt. With `objects`, calls of this process for the same can wait for it as well: ``openPrompt(for:)``.
  ///
  /// A prompt that is not answered in time is abandoned, not dismissed: gnome-keyring aborts when a prompt is
  /// dismissed while its dialog is up, and libsecret's own calls hang or abort it when they are cancelled. So
  /// the prompt gets an uninterruptible thread, and the user's late answer still counts.
  func show(_ path: String, for objects: Set<String>? = nil) -> Prompt {
    let prompt = Prompt(path: path, session: self, key: objects.map(key))
    if let key = prompt.key { Prompt.open.withLock { $0[key] = prompt } }
    DispatchQueue(label: "llavero.prompt").async { prompt.run() }
    return prompt
  }

  /// The prompt for some objects that the user has not answered, of whatever call of this process.
  func openPrompt(for objects: Set<String>) -> Prompt? {
    let key = key(objects)
    return Prompt.open.withLock { $0[key] }
  }

  func result(of prompt: Prompt, _ cancellable: Cancellable) throws(SecretServiceError) -> Variant {
    try cancellable.take(prompt.isDone)
    // Others may wait, too.
    prompt.isDone.signal()
    guard let outcome = prompt.outcome else { throw .cancelled }
    return try outcome.mapError(recorded).get()
  }

  /// No other service, on this bus or another, has the same.
  private func key(_ objects: Set<String>) -> [String] { [bus.busID ?? "", owner] + objects.sorted() }
}

/// One prompt of the service, from its call to its Completed signal.
final class Prompt: Sendable {
  /// Those of this process that the user has not answered.
  fileprivate static let open = Mutex<[[String]: Prompt]>([:])
  /// Held while it is found out whether there is one, and one is made.
  static let making = DispatchSemaphore(value: 1)

  fileprivate let isDone = DispatchSemaphore(value: 0)
  fileprivate let key: [String]?
  private let path: String
  private let session: ServiceSession
  private let result = Mutex<Result<Variant, SecretServiceError>?>(nil)

  fileprivate init(path: String, session: ServiceSession, key: [String]?) {
    self.path = path
    self.session = session
    self.key = key
  }

  fileprivate var outcome: Result<Variant, SecretServiceError>? { result.withLock { $0 } }

  private func finish(_ outcome: Result<Variant, SecretServiceError>) {
    result.withLock { if $0 == nil { $0 = outcome } }
    if let key { Self.open.withLock { if $0[key] === self { $0[key] = nil } } }
    isDone.signal()
  }

  /// Shows the prompt and handles its signals on the calling thread until it has ended.
  fileprivate func run() {
    let context = g_main_context_new()
    g_main_context_push_thread_default(context)
    defer {
      // GDBus releases this object only when the context has no more events.
      while g_main_context_iteration(context, 0) != 0 {}
      g_main_context_pop_thread_default(context)
      g_main_context_unref(context)
    }
    serve(context)
  }

  private func serve(_ context: OpaquePointer?) {
    let subscriptions = [
      SignalSubscription(session.bus, of: session.owner, path, ServiceInterface.prompt) { [self] in
        complete($0, $1)
      },
      SignalSubscription(session.bus, endOf: session.owner) { [self] in finish(.failure(.serviceGone)) },
    ]
    defer { withExtendedLifetime(subscriptions) {} }
    do {
      _ = try session.call(
        "Prompt", on: .prompt(path), [.string("")], reply: "()",
        // On a terminal oo7 replies when the user has answered. The caller gives up earlier.
        Cancellable(timeout: .seconds(24 * 60 * 60)))
    } catch {
      return finish(.failure(error))
    }
    while outcome == nil {
      if session.bus.isClosed { return finish(.failure(.serviceGone)) }
      // This thread gets no signal when the connection itself ends, so it checks from time to time.
      let timer = ContextTimer(after: .seconds(5)) {}
      g_main_context_iteration(context, 1)
      withExtendedLifetime(timer) {}
    }
  }

  private func complete(_ signal: String, _ arguments: [Variant]) {
    guard signal == "Completed" else { return }
    guard arguments.count == 2, let isDismissed = arguments[0].boolean, let value = arguments[1].unwrapped
    else { return finish(.failure(.malformedResponse("Prompt"))) }
    finish(isDismissed ? .failure(.promptDismissed) : .success(value))
  }
}
