import CGTK
import Dispatch
import Glibc

/// Runs libdispatch's main queue, and with it Swift's `MainActor`, on GLib's loop of the first thread.
///
/// libdispatch announces work by a descriptor, as for Core Foundation's loop. The source exists as long as this object.
@MainActor
final class MainQueueSource {
  private let id: UInt32

  init() {
    // The priority of GTK's drawing: equal sources take turns, so that neither work nor drawing blocks the other.
    let priority = G_PRIORITY_HIGH_IDLE + 20
    id = g_unix_fd_add_full(
      priority, _dispatch_get_main_queue_handle_4CF(), G_IO_IN,
      { descriptor, _, _ in
        // It counts wake-ups, and stays readable until it is read. One means to continue.
        var count: UInt64 = 0
        _ = read(descriptor, &count, MemoryLayout.size(ofValue: count))
        _dispatch_main_queue_callback_4CF(nil)
        return 1
      }, nil, nil)
  }

  isolated deinit { g_source_remove(id) }
}
