import CGLib
import Glibc

/// Keeps a warning of libsecret 0.21.8 off standard error: it releases a session that it does not have when the provider
/// ends while one is opened. All else is logged as ever.
package func dropLibsecretWarning() {
  let critical = GLogLevelFlags(rawValue: 1 << 3)
  _ = unsafe g_log_set_handler(
    "GLib-GObject", critical,
    { domain, level, message, _ in
      let known = "g_object_unref: assertion 'G_IS_OBJECT"
      guard let message, unsafe strstr(message, known) == nil else { return }
      unsafe g_log_default_handler(domain, level, message, nil)
    }, nil)
}
