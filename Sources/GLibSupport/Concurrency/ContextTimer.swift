import CGLib

/// Calls a closure once, on the thread's own main context. To be made, used and let go of on that thread.
package final class ContextTimer {
  private let source: UnsafeMutablePointer<GSource>?

  package init(after delay: Duration, _ action: @escaping () -> Void) {
    let milliseconds = min(max((delay / .milliseconds(1)).rounded(.up), 0), Double(Int32.max))
    source = g_timeout_source_new(guint(milliseconds))
    g_source_set_callback(
      source,
      { data in
        if let data { Unmanaged<Action>.fromOpaque(data).takeUnretainedValue().run() }
        return 0
      }, Unmanaged.passRetained(Action(run: action)).toOpaque(),
      { data in data.map { Unmanaged<Action>.fromOpaque($0).release() } })
    g_source_attach(source, g_main_context_get_thread_default())
  }

  deinit {
    g_source_destroy(source)
    g_source_unref(source)
  }

  private final class Action {
    let run: () -> Void
    init(run: @escaping () -> Void) { self.run = run }
  }
}
