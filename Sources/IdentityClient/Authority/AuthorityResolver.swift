import FoundationEssentials
import HTTPSupport
import Logging
import Synchronization
import TokenCache

/// Finds out where an authority's endpoints are, once for each authority and by one request at a time.
final class AuthorityResolver: Sendable {
  private let configuration: ClientConfiguration
  private let cache: TokenCacheAccessor
  private let sender: HTTPSender
  private let log: ClientLog
  private let found = Mutex<[Authority: Result<AuthorityMetadata, IdentityError>]>([:])
  private let searches = SharedWork<Authority, AuthorityMetadata>()

  init(configuration: ClientConfiguration, cache: TokenCacheAccessor, sender: HTTPSender, log: ClientLog) {
    self.configuration = configuration
    self.cache = cache
    self.sender = sender
    self.log = log
  }

  /// The authority's metadata, from memory where it was found before.
  ///
  /// - Throws: ``IdentityError``.
  func metadata(of authority: Authority) async throws(IdentityError) -> AuthorityMetadata {
    if let known = found.withLock({ $0[authority] }) { return try known.get() }
    return try await searches.run(authority) { () async throws(IdentityError) in
      do throws(IdentityError) {
        let metadata = try await self.search(authority)
        self.found.withLock { $0[authority] = .success(metadata) }
        return metadata
      } catch {
        // A server's own refusal stands. Whatever else came may be a proxy's, and is gone with the next request.
        if error.isOAuthRefusal {
          self.found.withLock { $0[authority] = .failure(error) }
        }
        throw error
      }
    }
  }

  private func search(_ authority: Authority) async throws(IdentityError) -> AuthorityMetadata {
    if authority.kind == .aad, !cache.clouds.contains(authority.host) {
      try await discoverCloud(of: authority)
    }
    let response = try await sender.send(to: discoveryAddress(of: authority))
    let fields: JSONObject
    do {
      fields = try TokenEndpoint.fields(of: response)
    } catch {
      throw error.isOAuthRefusal ? error.asValidationFailure : error
    }
    return try AuthorityMetadata(fields, of: authority, in: cache.clouds)
  }

  private func discoveryAddress(of authority: Authority) throws(IdentityError) -> URL {
    var base = authority.url.absoluteString
    if base.hasSuffix("/") { base.removeLast() }
    let network = cache.clouds.preferredNetwork(of: authority.host)
    if authority.kind == .aad, network != authority.host {
      base = "https://\(network)" + base.dropFirst("https://\(authority.host)".count)
    }
    let version = authority.isMicrosofts ? "/v2.0" : ""
    guard let url = URL(string: "\(base)\(version)/.well-known/openid-configuration") else {
      throw .authorityValidationFailed("The authority has no address for its discovery document.")
    }
    return url
  }

  /// Asks which other hosts name the authority's cloud. An authority of the application's own is asked
  /// itself, and need not answer; others are looked up with Microsoft.
  private func discoverCloud(of authority: Authority) async throws(IdentityError) {
    let isOwn = configuration.knownAuthorities.contains { $0.host == authority.host }
    guard isOwn || configuration.validateAuthority else { return }
    let host = isOwn ? authority.host : Authority.default.host
    do throws(IdentityError) {
      let fields = try TokenEndpoint.fields(
        of: try await sender.send(to: discoveryAddress(authority, at: host)))
      guard fields["tenant_discovery_endpoint"]?.stringValue.nonBlank != nil else {
        throw .authorityValidationFailed("Instance discovery did not recognise the authority.")
      }
      insert(fields["metadata"]?.arrayValue ?? [], about: authority, isTrusted: !isOwn)
    } catch {
      guard !isOwn else {
        log.debug("The authority does not say which other hosts it has.", ["reason": log.reason(error)])
        return
      }
      throw error.isOAuthRefusal ? error.asValidationFailure : error
    }
  }

  private func discoveryAddress(_ authority: Authority, at host: String) throws(IdentityError) -> URL {
    let endpoint = "\(authority.url.absoluteString)/oauth2/v2.0/authorize"
    guard let url = URL(string: "https://\(host)/common/discovery/instance") else {
      throw .authorityValidationFailed("The authority has no address for instance discovery.")
    }
    return url.appending(query: ["api-version": "1.1", "authorization_endpoint": endpoint])
  }

  /// Takes in the clouds that instance discovery named. A host that vouches for itself speaks of itself
  /// alone, and cannot join a cloud that is known.
  private func insert(_ clouds: [JSONValue], about authority: Authority, isTrusted: Bool) {
    let known = cache.clouds
    let found = clouds.compactMap { $0.objectValue.flatMap(CloudInstance.init(discovered:)) }
    cache.insert(
      found.filter { instance in
        let hosts = instance.aliases + [instance.preferredNetwork, instance.preferredCache]
        return hosts.contains { $0.normalized == authority.host }
          && (isTrusted || !hosts.contains(where: known.contains))
      })
  }
}

extension CloudInstance {
  fileprivate init?(discovered fields: JSONObject) {
    guard let network = fields["preferred_network"]?.stringValue.nonBlank,
      let cache = fields["preferred_cache"]?.stringValue.nonBlank
    else { return nil }
    self.init(
      preferredNetwork: network, preferredCache: cache,
      aliases: (fields["aliases"]?.arrayValue ?? []).compactMap { $0.stringValue.nonBlank })
  }
}

extension IdentityError {
  fileprivate var asValidationFailure: IdentityError {
    guard code != .authorityValidationFailed else { return self }
    var error = self
    error.code = .authorityValidationFailed
    error.message = "The authority was not recognised: \(message)"
    return error
  }
}
