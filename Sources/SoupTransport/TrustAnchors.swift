import CLibsoup
import GLibSupport
import HTTPTransport

/// The certificates to trust instead of the system's, if any were named.
func trustAnchors(
  caBundle: String?, environment: [String: String]
) throws(HTTPTransportError) -> GObjectReference<GTlsDatabase>? {
  let candidates: [(origin: String, path: String?)] = [
    ("", caBundle),
    (" named by LLAVERO_CA_BUNDLE", environment["LLAVERO_CA_BUNDLE"]),
    (" named by SSL_CERT_FILE", environment["SSL_CERT_FILE"]),
  ]
  for (origin, path) in candidates {
    guard let path, !path.isEmpty || origin.isEmpty else { continue }
    do {
      guard let anchors = try loadTrustAnchors(path) else {
        throw HTTPTransportError.invalidConfiguration("The CA bundle \(path)\(origin) holds no certificate.")
      }
      return anchors
    } catch let error as GLibError {
      throw .invalidConfiguration("The CA bundle \(path)\(origin) cannot be read: \(error.message)")
    } catch let error as HTTPTransportError {
      throw error
    } catch {
      throw .invalidConfiguration("The CA bundle \(path)\(origin) cannot be read.")
    }
  }
  return nil
}

private func loadTrustAnchors(_ path: String) throws(GLibError) -> GObjectReference<GTlsDatabase>? {
  let absolute = g_canonicalize_filename(path, nil)
  defer { g_free(absolute) }
  // The database takes a file without any certificate, and would then trust nobody.
  let certificates = try withGError { g_tls_certificate_list_new_from_file(absolute, $0) }
  guard let certificates else { return nil }
  g_list_free_full(certificates, g_object_unref)
  guard let database = try withGError({ g_tls_file_database_new(absolute, $0) }) else { return nil }
  return GObjectReference(
    taking: UnsafeMutableRawPointer(database).assumingMemoryBound(to: GTlsDatabase.self))
}
