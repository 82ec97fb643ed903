import CGLib

/// Where the desktop looks for what a person has set up (XDG Base Directory Specification). GLib reads the environment
/// once for each process.
package enum DesktopDirectories {
  /// `$XDG_DATA_HOME/applications`, with the person's own desktop files.
  package static var applications: String { String(cString: g_get_user_data_dir()) + "/applications" }

  /// `$XDG_CONFIG_HOME`.
  package static var configuration: String { String(cString: g_get_user_config_dir()) }
}
