import CGLib
import SwiftASN1

/// Whether a server's certificate has no purposes, or that of servers among them (RFC 5280 section 4.2.1.12). GnuTLS leaves
/// this check to its callers, and GIO does not make it.
func isForServers(_ certificate: UnsafeMutablePointer<GTlsCertificate>?) -> Bool {
  guard let certificate else { return false }
  var value = GValue()
  g_value_init(&value, g_byte_array_get_type())
  defer { g_value_unset(&value) }
  let object = UnsafeMutableRawPointer(certificate).assumingMemoryBound(to: GObject.self)
  g_object_get_property(object, "certificate", &value)
  guard let bytes = g_value_get_boxed(&value)?.assumingMemoryBound(to: GByteArray.self).pointee else {
    return false
  }
  let der = Array(UnsafeBufferPointer(start: bytes.data, count: Int(bytes.len)))
  guard let purposes = try? purposes(ofCertificate: der) else { return false }
  return purposes.isEmpty || purposes.contains(.serverAuthentication) || purposes.contains(.anyPurpose)
}

extension ASN1ObjectIdentifier {
  fileprivate static let extendedKeyUsage: Self = [2, 5, 29, 37]
  fileprivate static let anyPurpose: Self = [2, 5, 29, 37, 0]
  fileprivate static let serverAuthentication: Self = [1, 3, 6, 1, 5, 5, 7, 3, 1]
}

/// The purposes in the extension of a certificate; empty without one.
private func purposes(ofCertificate der: [UInt8]) throws -> [ASN1ObjectIdentifier] {
  let body = try DER.parse(der).members.first
  let tag = ASN1Identifier(tagWithNumber: 3, tagClass: .contextSpecific)
  let extensions = body?.members.first { $0.identifier == tag }?.members.first?.members ?? []
  for field in extensions.map(\.members) {
    guard let name = field.first, let value = field.last,
      try ASN1ObjectIdentifier(derEncoded: name) == .extendedKeyUsage
    else { continue }
    return try DER.parse(ASN1OctetString(derEncoded: value).bytes).members.map(
      ASN1ObjectIdentifier.init(derEncoded:))
  }
  return []
}

extension ASN1Node {
  fileprivate var members: [ASN1Node] {
    if case .constructed(let nodes) = content { Array(nodes) } else { [] }
  }
}
