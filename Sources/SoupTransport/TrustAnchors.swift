import CGLib
import GLibSupport
import HTTPSupport

/// The certificates to trust instead of the system's, if any are configured.
func loadTrustAnchors(
  caBundle: String?, environment: [String: String]
) throws(HTTPTransportError) -> GObjectReference<GTlsDatabase>? {
  let variable = ["LLAVERO_CA_BUNDLE", "SSL_CERT_FILE"].first { !(environment[$0] ?? "").isEmpty }
  guard let path = caBundle ?? variable.flatMap({ environment[$0] }) else { return nil }
  do {
    // GnuTLS would read any file, even a named pipe without a writer.
    _ = try readFile(path, limit: 16 << 20)
    GIOTypes.register()
    let absolute = String(taking: g_canonicalize_filename(path, nil))
    // Also an error for a file without certificates.
    return try withGError { g_tls_file_database_new(absolute, $0) }.map {
      GObjectReference(taking: UnsafeMutableRawPointer($0).assumingMemoryBound(to: GTlsDatabase.self))
    }
  } catch {
    let origin = caBundle == nil ? variable.map { " in \($0)" } ?? "" : ""
    throw .invalidConfiguration("The CA bundle \(path)\(origin) is unusable: \(error)")
  }
}
