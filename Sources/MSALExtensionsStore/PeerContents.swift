import FoundationEssentials
import SecretService
package import TokenCache

/// The contents of another program's cache.
package struct PeerContents: Sendable {
  /// All copies, merged.
  package let document: CacheDocument
  package let encoding: PayloadEncoding?
  /// How many items or files hold it: 0 if there is no cache, more than 1 by mistake.
  package let copies: Int
  /// The items, the newest first.
  let paths: [ObjectPath]
}

extension PeerContents {
  init(file payload: Data) throws(CacheError) {
    let decoded = try PayloadEncoding.decode(payload)
    let document = decoded?.0 ?? CacheDocument()
    // MSAL for Node writes "{}" into a file that only signals a change of the keyring.
    self.init(document: document, encoding: decoded?.1, copies: document.isEmpty ? 0 : 1, paths: [])
  }

  init(items: [(path: ObjectPath, payload: SecretBytes)]) throws(CacheError) {
    var (document, encoding): (CacheDocument, PayloadEncoding?) = (CacheDocument(), nil)
    // The oldest first, so that the newest is merged last.
    for item in items.reversed() {
      var payload = unsafe item.payload.withUnsafeBytes { unsafe Data($0) }
      defer { payload.resetBytes(in: payload.startIndex..<payload.endIndex) }
      guard let decoded = try PayloadEncoding.decode(payload) else { continue }
      if encoding == nil { document = decoded.0 } else { document.merge(decoded.0, in: .known) }
      encoding = decoded.1
    }
    self.init(document: document, encoding: encoding, copies: items.count, paths: items.map(\.path))
  }
}
