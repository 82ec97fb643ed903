import CGLib

/// The file of this process's program, also when another has taken its place since.
package func executableFile() -> String? {
  guard let link = g_file_read_link("/proc/self/exe", nil) else { return nil }
  defer { g_free(link) }
  let path = String(cString: link)
  return path.hasSuffix(" (deleted)") ? String(path.dropLast(" (deleted)".count)) : path
}

/// The absolute path of a program that can be run; one without a slash is looked up in PATH.
///
/// - Returns: `nil` where there is none.
package func programFile(_ name: String) -> String? {
  guard let path = g_find_program_in_path(name) else { return nil }
  defer { g_free(path) }
  guard let absolute = g_canonicalize_filename(path, nil) else { return nil }
  defer { g_free(absolute) }
  return String(cString: absolute)
}
