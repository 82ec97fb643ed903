package import CGLib
import Glibc

/// An error that GLib reported as a `GError`.
package struct GLibError: Error, Equatable, Sendable {
  /// The name of the error domain's quark, for example `g-io-error-quark`.
  package let domain: String
  package let code: Int32
  /// The text, without the D-Bus error name that GDBus puts in front of it.
  package let message: String
  /// The D-Bus error name, if a peer on the bus returned the error.
  package let dbusName: String?

  /// A call failed without giving a reason.
  package static let unexplained = GLibError(domain: "", code: 0, message: "unknown error", dbusName: nil)

  /// GLib was not called, because it would end the process; see ``canOpen(_:)``.
  package static let outOfDescriptors = GLibError(
    domain: "g-io-error-quark", code: Int32(bitPattern: G_IO_ERROR_TOO_MANY_OPEN_FILES.rawValue),
    message: "Too many open files", dbusName: nil)

  /// The error with a text for users in place of GLib's.
  package func saying(_ message: String) -> GLibError {
    GLibError(domain: domain, code: code, message: message, dbusName: dbusName)
  }

  package var isAddressInUse: Bool { isIO(G_IO_ERROR_ADDRESS_IN_USE) }

  package func isIO(_ code: GIOErrorEnum) -> Bool {
    domain == "g-io-error-quark" && self.code == Int32(bitPattern: code.rawValue)
  }
}

extension GLibError {
  /// Takes ownership of `error` and frees it.
  package init(taking error: UnsafeMutablePointer<GError>) {
    domain = g_quark_to_string(error.pointee.domain).map { String(cString: $0) } ?? ""
    code = error.pointee.code
    dbusName = String(taking: g_dbus_error_get_remote_error(error))
    g_dbus_error_strip_remote_error(error)
    message = error.pointee.message.map { String(cString: $0) } ?? ""
    g_error_free(error)
  }
}

extension GLibError: CustomStringConvertible {
  package var description: String { message }
}

/// Calls `body` with a place for a `GError` and throws the error that it stores there.
package func withGError<T>(
  _ body: (UnsafeMutablePointer<UnsafeMutablePointer<GError>?>) -> T
) throws(GLibError) -> T {
  var error: UnsafeMutablePointer<GError>?
  let result = body(&error)
  if let error { throw GLibError(taking: error) }
  return result
}

/// Writes GLib's log to standard error. Its messages for developers (`G_MESSAGES_DEBUG`) would go to standard output.
package func logToStandardError() { g_log_writer_default_set_use_stderr(1) }

/// Suppresses a warning of libsecret 0.21.8, which releases a session that it does not have when the provider ends while
/// one is opened. All other messages are logged as before.
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
