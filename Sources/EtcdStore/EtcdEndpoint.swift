import FoundationEssentials
import HTTPSupport
import HTTPTypes
import TokenCache

/// One of a cluster's addresses.
struct EtcdEndpoint: Sendable, Hashable, CustomStringConvertible {
  private let scheme: String
  private let authority: String

  /// Takes an address such as `https://etcd-1.example.com:2379`.
  ///
  /// - Throws: ``CacheError/Code/unavailable`` for an invalid address, and for http to another machine.
  init(_ text: String) throws(CacheError) {
    guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
      ["https", "http"].contains(scheme), let host = parts.encodedHost, !host.isEmpty, parts.user == nil,
      ["", "/"].contains(parts.path), parts.query == nil, parts.fragment == nil
    else {
      // Not quoted: a password may stand in it.
      throw CacheError(
        .unavailable, "One of etcd's endpoints is invalid.",
        advice:
          "Expected an address such as https://etcd-1.example.com:2379, without a user, a password or a path."
      )
    }
    self.scheme = scheme
    authority = host + (parts.port.map { ":\($0)" } ?? "")
    guard scheme == "https" || request("/").isPlaintextLoopback else {
      throw CacheError(
        .unavailable, "The endpoint \(text) is on another machine and has no TLS.",
        advice:
          "Use https; etcd takes its certificate with --cert-file and --key-file.")
    }
  }

  func request(_ path: String) -> HTTPRequest {
    HTTPRequest(method: .post, scheme: scheme, authority: authority, path: path)
  }

  var description: String { "\(scheme)://\(authority)" }
}
