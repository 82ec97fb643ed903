import CGLib
import GLibSupport
import Glibc

/// GIO's proxy resolver for systems without the desktop's settings, and users that cannot have any.
///
/// Without their schema, glib-networking's resolver for GNOME ends the process when it is made, and GIO makes it for each
/// connection that may use a proxy, even if another resolver is set (GProxyAddressEnumerator).
enum DesktopProxy {
  /// Prevents GIO from making that resolver: one without proxies gets priority over it.
  static let avoidMissingSettings: Void = {
    if isOwnWritable(String(cString: g_get_user_runtime_dir())),
      let source = g_settings_schema_source_get_default(),
      let schema = g_settings_schema_source_lookup(source, "org.gnome.system.proxy", 1)
    {
      return g_settings_schema_unref(schema)
    }
    // Loads GIO's modules, and with them the resolvers.
    _ = g_tls_backend_get_default()
    guard let resolvers = g_io_extension_point_lookup("gio-proxy-resolver"),
      let direct = g_io_extension_point_get_extension_by_name(resolvers, "dummy")
    else { return }
    // A type of its own, since GIO knows each type by one name.
    var query = GTypeQuery()
    g_type_query(g_io_extension_get_type(direct), &query)
    let type = g_type_register_static_simple(
      query.type, "LlaveroDirectProxyResolver", query.class_size, nil, query.instance_size, nil,
      GTypeFlags(rawValue: 0))
    g_io_extension_point_implement("gio-proxy-resolver", type, "llavero-direct", 1000)
  }()

  /// Whether dconf may make its directory here, or this one first: as root it would lock another user out of theirs, and where
  /// it cannot it prints errors.
  private static func isOwnWritable(_ directory: String) -> Bool {
    var status = stat()
    guard stat(directory, &status) == 0 else {
      return errno == ENOENT && directory != "/" && isOwnWritable(parentDirectory(of: directory))
    }
    return status.st_uid == geteuid() && access(directory, W_OK) == 0
  }
}
