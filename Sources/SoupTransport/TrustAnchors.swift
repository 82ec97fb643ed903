import CGLib
import GLibSupport
import HTTPSupport

/// The certificates to trust instead of the system's, if any are configured.
func loadTrustAnchors(
  caBundle: String?, environment: [String: String]
) throws(HTTPTransportError) -> GObjectReference<GTlsDatabase>? {
  if let caBundle { return try trustAnchors(in: caBundle, origin: "") }
  for name in ["LLAVERO_CA_BUNDLE", "SSL_CERT_FILE"] {
    if let path = environment[name], !path.isEmpty {
      return try trustAnchors(in: path, origin: " in \(name)")
    }
  }
  return nil
}

private func trustAnchors(
  in path: String, origin: String
) throws(HTTPTransportError) -> GObjectReference<GTlsDatabase>? {
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
    throw .invalidConfiguration("The CA bundle \(path)\(origin) is unusable: \(error)")
  }
}
