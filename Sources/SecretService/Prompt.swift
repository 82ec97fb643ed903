import CGLib
import Dispatch
import GLibSupport
import Synchronization

extension ServiceSession {
  /// Shows a prompt and waits for its result until the deadline.
  ///
  /// A prompt that nobody answers in time is abandoned, not dismissed: gnome-keyring aborts when a prompt is
  /// dismissed while its dialog is up, and libsecret's own calls hang or abort it when they are cancelled. So
  /// the prompt gets a thread that nothing can interrupt, and the user's late answer still counts.
  func prompt(_ path: String, _ cancellable: Cancellable) throws(SecretServiceError) -> Variant {
    let prompt = Prompt(path: path, session: self)
    DispatchQueue(label: "llavero.prompt").async { prompt.run() }
    if cancellable.wait(for: prompt.isDone), let outcome = prompt.outcome { return try outcome.get() }
    throw cancellable.isPastDeadline ? .timedOut : .cancelled
  }
}

/// One prompt of the service, from its call to its Completed signal.
private final class Prompt: Sendable {
  let isDone = DispatchSemaphore(value: 0)
  private let path: String
  private let session: ServiceSession
  private let result = Mutex<Result<Variant, SecretServiceError>?>(nil)

  init(path: String, session: ServiceSession) {
    self.path = path
    self.session = session
  }

  var outcome: Result<Variant, SecretServiceError>? { result.withLock { $0 } }

  func finish(_ outcome: Result<Variant, SecretServiceError>) {
    result.withLock { if $0 == nil { $0 = outcome } }
    isDone.signal()
  }

  /// Shows the prompt and serves its signals on the calling thread until it is over.
  func run() {
    let context = g_main_context_new()
    g_main_context_push_thread_default(context)
    defer {
      g_main_context_pop_thread_default(context)
      g_main_context_unref(context)
    }
    let subscriptions = [
      subscribe(session.owner, ServiceInterface.prompt, "Completed", at: path, about: nil, onCompleted),
      subscribe(
        "org.freedesktop.DBus", "org.freedesktop.DBus", "NameOwnerChanged", at: "/org/freedesktop/DBus",
        about: session.owner, onOwnerChanged),
    ]
    defer {
      for id in subscriptions { g_dbus_connection_signal_unsubscribe(session.bus.pointer, id) }
      // GDBus lets go of this object only when the context has run dry.
      while g_main_context_iteration(context, 0) != 0 {}
    }

    do {
      _ = try session.call(
        ServiceInterface.prompt, "Prompt", at: path, on: .prompt, [.string("")], reply: "()",
        Cancellable(timeout: .seconds(25)))
    } catch {
      return finish(.failure(error))
    }
    // Nobody signals the end of the connection itself to this thread, so it looks from time to time.
    let timer = g_timeout_source_new_seconds(5)
    g_source_set_callback(timer, { _ in 1 }, nil, nil)
    g_source_attach(timer, context)
    defer {
      g_source_destroy(timer)
      g_source_unref(timer)
    }
    while outcome == nil {
      if session.bus.isClosed { return finish(.failure(.serviceGone)) }
      g_main_context_iteration(context, 1)
    }
  }

  private func subscribe(
    _ sender: String, _ interface: String, _ signal: String, at path: String, about argument: String?,
    _ callback: GDBusSignalCallback
  ) -> guint {
    g_dbus_connection_signal_subscribe(
      session.bus.pointer, sender, interface, signal, path, argument, G_DBUS_SIGNAL_FLAGS_NONE, callback,
      Unmanaged.passRetained(self).toOpaque(),
      { data in data.map { Unmanaged<Prompt>.fromOpaque($0).release() } })
  }

  fileprivate func complete(_ arguments: OpaquePointer) {
    let members = Variant(taking: g_variant_ref(arguments)).children
    guard members.count == 2, let isDismissed = members[0].boolean, let value = members[1].unwrapped else {
      return finish(.failure(.malformedAnswer("Prompt")))
    }
    finish(isDismissed ? .failure(.promptDismissed) : .success(value))
  }
}

private let onCompleted: GDBusSignalCallback = { _, _, _, _, _, arguments, data in
  guard let arguments, let data else { return }
  Unmanaged<Prompt>.fromOpaque(data).takeUnretainedValue().complete(arguments)
}

/// The bus says nothing but that the service's unique name has no owner any more.
private let onOwnerChanged: GDBusSignalCallback = { _, _, _, _, _, _, data in
  guard let data else { return }
  Unmanaged<Prompt>.fromOpaque(data).takeUnretainedValue().finish(.failure(.serviceGone))
}
