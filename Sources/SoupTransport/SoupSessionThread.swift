import CGLib
import GLibSupport
import LibsoupOnDemand

/// A thread that owns a `SoupSession`.
///
/// `@unchecked Sendable`: `session` is made, used and let go of on the thread alone.
final class SoupSessionThread: @unchecked Sendable {
  private let thread = MainLoopThread(name: "llavero-http")
  private var session: OpaquePointer?

  init(_ route: Route) {
    thread.invoke { [self] in
      switch route {
      case .hosts(let trustAnchors, let proxy):
        DesktopProxy.avoidMissingSettings
        guard let session = makeSession() else { return }
        if let trustAnchors { soup_session_set_tls_database(session, trustAnchors.pointer) }
        proxy?.apply(to: session)
        self.session = session
      case .loopback, .socket:
        if case .socket(let socket) = route {
          session = makeSession(to: socket)
        } else {
          session = makeSession()
        }
        // No proxy is on the way, nor looked for.
        if let session { soup_session_set_proxy_resolver(session, nil) }
      }
    }
  }

  deinit {
    guard let session else { return }
    let ending = Unmanaged.passRetained(EndingSession(session, thread))
    thread.invoke { ending.takeUnretainedValue().begin() }
  }

  /// Runs `work` on the thread. `work` must not block.
  func run(_ work: @escaping @Sendable (OpaquePointer) -> Void) {
    thread.invoke { [self] in
      if let session { work(session) }
    }
  }
}

/// A session whose last connections are being closed. Holds the thread, which must not end before.
///
/// `@unchecked Sendable`: used on the thread alone.
private final class EndingSession: @unchecked Sendable {
  private let session: OpaquePointer
  private let thread: MainLoopThread

  init(_ session: OpaquePointer, _ thread: MainLoopThread) {
    self.session = session
    self.thread = thread
  }

  deinit { g_object_unref(UnsafeMutableRawPointer(session)) }

  func begin() {
    soup_session_abort(session)
    // HTTP/2 connections say goodbye before they close; libsoup loses those that it still has when it ends.
    let timer = g_timeout_source_new(1000)
    g_source_set_callback(
      timer, { _ in 0 }, Unmanaged.passUnretained(self).toOpaque(),
      { data in data.map { Unmanaged<EndingSession>.fromOpaque($0).release() } })
    g_source_attach(timer, thread.context)
    g_source_unref(timer)
  }
}

private func makeSession(to socket: UnixSocket? = nil) -> OpaquePointer? {
  // libsoup's own bound of two connections for a host is a browser's of the nineties.
  let options: [(name: StaticString, value: Int32)] = [("max-conns", 64), ("max-conns-per-host", 16)]
  var properties: [(name: StaticString, value: GValue)] = options.map { name, number in
    var value = GValue()
    g_value_init(&value, g_type_from_name("gint"))
    g_value_set_int(&value, number)
    return (name, value)
  }
  if let address = socket?.address {
    var value = GValue()
    g_value_init(&value, g_socket_connectable_get_type())
    g_value_take_object(&value, address)
    properties.append(("remote-connectable", value))
  }
  var names = properties.map { name, _ in
    Optional(UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self))
  }
  var values = properties.map(\.value)
  let object = g_object_new_with_properties(soup_session_get_type(), guint(values.count), &names, values)
  for index in values.indices { g_value_unset(&values[index]) }
  // GLib ends the process rather than return NULL here.
  guard let object else { return nil }
  let session = OpaquePointer(object)
  // It reads on until it has something to hand out, which need not be ever.
  soup_session_remove_feature_by_type(session, soup_content_decoder_get_type())
  soup_session_set_timeout(session, 0)
  soup_session_set_idle_timeout(session, 60)
  return session
}
