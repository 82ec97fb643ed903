import CGLib
import GLibSupport
import LibsoupOnDemand

/// A thread that owns a `SoupSession`.
///
/// `@unchecked Sendable`: `session` is made, used and released on the thread alone.
final class SoupSessionThread: @unchecked Sendable {
  private let thread = MainLoopThread(name: "llavero-http")
  private var session: OpaquePointer?

  init(_ route: Route, connectionsPerHost: Int32) {
    thread.invoke { [self] in
      if case .hosts = route { DesktopProxy.avoidMissingSettings }
      guard let session = makeSession(to: route.unixSocket, connectionsPerHost) else { return }
      if case .hosts(let trustAnchors, let proxy, _) = route {
        if let trustAnchors { soup_session_set_tls_database(session, trustAnchors.pointer) }
        proxy?.apply(to: session)
      } else {
        // No proxy is used or searched for.
        soup_session_set_proxy_resolver(session, nil)
      }
      self.session = session
    }
  }

  deinit {
    guard let session else { return }
    // It is used on the thread alone.
    nonisolated(unsafe) let ending = session
    thread.invoke { [thread] in
      soup_session_abort(ending)
      // What is pending holds the session, and ends by the thread's loop.
      g_object_weak_ref(
        UnsafeMutableRawPointer(ending).assumingMemoryBound(to: GObject.self),
        { thread, _ in if let thread { Unmanaged<MainLoopThread>.fromOpaque(thread).release() } },
        Unmanaged.passRetained(thread).toOpaque())
      g_object_unref(UnsafeMutableRawPointer(ending))
    }
  }

  /// Runs `work` on the thread. `work` must not block.
  func run(_ work: @escaping @Sendable (OpaquePointer) -> Void) {
    thread.invoke { [self] in
      if let session { work(session) }
    }
  }
}

private func makeSession(to socket: UnixSocket?, _ connectionsPerHost: Int32) -> OpaquePointer? {
  // libsoup's default of two connections per host is too low.
  var properties: [(name: String, value: GValue)] = [
    ("max-conns", .int(4 * connectionsPerHost)), ("max-conns-per-host", .int(connectionsPerHost)),
  ]
  if let address = socket?.address {
    properties.append(("remote-connectable", .object(address, type: g_socket_connectable_get_type())))
    g_object_unref(address)
  }
  // GLib ends the process instead of returning NULL here.
  guard let object = newObject(soup_session_get_type(), properties) else { return nil }
  let session = OpaquePointer(object)
  // It reads until it has something to return, which may be never.
  soup_session_remove_feature_by_type(session, soup_content_decoder_get_type())
  soup_session_set_timeout(session, 0)
  soup_session_set_idle_timeout(session, 60)
  return session
}
