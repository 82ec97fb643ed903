import CGLib
import Synchronization

/// A thread with a GLib main loop and a main context of its own, for APIs that call back.
///
/// `@unchecked Sendable`: the pointers never change, and GLib lets any thread invoke on a context and quit a
/// loop.
package final class MainLoopThread: @unchecked Sendable {
  package let context: OpaquePointer
  private let loop: OpaquePointer

  package init(name: String) {
    GIOTypes.register()
    context = g_main_context_new()
    loop = g_main_loop_new(context, 0)
    let loop = g_main_loop_ref(self.loop)
    let thread = g_thread_new(
      name,
      { loop in
        let loop = loop.map(OpaquePointer.init)
        let context = g_main_loop_get_context(loop)
        g_main_context_push_thread_default(context)
        g_main_loop_run(loop)
        g_main_context_pop_thread_default(context)
        g_main_loop_unref(loop)
        return nil
      }, UnsafeMutableRawPointer(loop))
    g_thread_unref(thread)
  }

  deinit {
    // From inside the loop, which may not run yet. The pointer may be passed to it: it never changes, and the
    // thread holds a reference of its own to the loop.
    nonisolated(unsafe) let loop = loop
    invoke { g_main_loop_quit(loop) }
    g_main_loop_unref(loop)
    g_main_context_unref(context)
  }

  /// Runs `work` on the thread: at once if called there, else in the order of the calls. It must not block.
  package func invoke(_ work: @escaping @Sendable () -> Void) {
    g_main_context_invoke_full(
      context, G_PRIORITY_DEFAULT,
      { data in
        if let data { Unmanaged<Work>.fromOpaque(data).takeUnretainedValue().run() }
        return 0
      }, Unmanaged.passRetained(Work(work)).toOpaque(),
      { data in data.map { Unmanaged<Work>.fromOpaque($0).release() } })
  }

  /// Passed between threads through Swift's own lock, since the thread sanitizer does not see GLib's.
  private final class Work: Sendable {
    private let work = Mutex<(@Sendable () -> Void)?>(nil)

    init(_ work: @escaping @Sendable () -> Void) { self.work.withLock { $0 = work } }

    func run() {
      let work = work.withLock { $0.take() }
      work?()
    }
  }
}

/// Calls a closure once, on the thread's own main context. Make, use and release it on that thread.
package final class ContextTimer {
  private let source: UnsafeMutablePointer<GSource>?

  package init(after delay: Duration, _ action: @escaping () -> Void) {
    let milliseconds = min(max((delay / .milliseconds(1)).rounded(.up), 0), Double(Int32.max))
    source = g_timeout_source_new(guint(milliseconds))
    g_source_set_callback(
      source,
      { data in
        if let data { Unmanaged<Box<() -> Void>>.fromOpaque(data).takeUnretainedValue().value() }
        return 0
      }, Unmanaged.passRetained(Box(action)).toOpaque(),
      { data in data.map { Unmanaged<Box<() -> Void>>.fromOpaque($0).release() } })
    g_source_attach(source, g_main_context_get_thread_default())
  }

  deinit {
    g_source_destroy(source)
    g_source_unref(source)
  }
}
