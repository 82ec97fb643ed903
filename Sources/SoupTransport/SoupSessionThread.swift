import CLibsoup
import GLibSupport

/// A thread that owns a `SoupSession`.
///
/// `@unchecked Sendable`: `session` is made, used and let go of on the thread alone.
final class SoupSessionThread: @unchecked Sendable {
  private let thread = MainLoopThread(name: "llavero-http")
  private var session: UnsafeMutablePointer<SoupSession>?

  init(trustAnchors: GObjectReference<GTlsDatabase>?, proxy: ProxySettings?) {
    thread.invoke { [self] in
      guard let session = makeSession() else { return }
      if let trustAnchors { soup_session_set_tls_database(session, trustAnchors.pointer) }
      proxy?.apply(to: session)
      self.session = session
    }
  }

  deinit {
    nonisolated(unsafe) let session = session
    // The work holds the thread, which must not end before.
    thread.invoke { [thread] in
      soup_session_abort(session)
      g_object_unref(session)
      withExtendedLifetime(thread) {}
    }
  }

  /// Runs `work` on the thread. `work` must not block.
  func run(_ work: @escaping @Sendable (UnsafeMutablePointer<SoupSession>) -> Void) {
    thread.invoke { [self] in
      if let session { work(session) }
    }
  }
}

private func makeSession() -> UnsafeMutablePointer<SoupSession>? {
  // libsoup's own bound of two connections for a host is a browser's of the nineties.
  let options: [(name: StaticString, value: Int32)] = [("max-conns", 64), ("max-conns-per-host", 16)]
  var names = options.map { name, _ in
    Optional(UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self))
  }
  let values = options.map { _, number in
    var value = GValue()
    g_value_init(&value, g_type_from_name("gint"))
    g_value_set_int(&value, number)
    return value
  }
  let object = g_object_new_with_properties(soup_session_get_type(), guint(options.count), &names, values)
  // GLib ends the process rather than return NULL here.
  guard let object else { return nil }
  let session = UnsafeMutableRawPointer(object).assumingMemoryBound(to: SoupSession.self)
  // Without it nothing answers a challenge: the caller sees the 401.
  soup_session_remove_feature_by_type(session, soup_auth_manager_get_type())
  soup_session_set_timeout(session, 0)
  soup_session_set_idle_timeout(session, 60)
  return session
}
