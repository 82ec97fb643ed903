import FoundationEssentials
import HTTPSupport
import Logging
import Synchronization
import TokenCache

extension PublicClient {
  /// Returns an authority's metadata, which is requested once per authority and by one call at a time. All requests
  /// share one deadline (default: that of a call that begins now).
  func metadata(
    of authority: Authority, until deadline: Duration? = nil
  ) async throws(IdentityError) -> AuthorityMetadata {
    if let known = knownMetadata.withLock({ $0[authority] }),
      known.until.map({ timing.uptime() < $0 }) ?? true
    {
      return try known.result.get()
    }
    @Sendable func search() async throws(IdentityError) -> AuthorityMetadata {
      let pause = Duration.seconds(Throttle.pause)
      let deadline = deadline ?? sender.deadline()
      do {
        let isComplete = try await discoverCloud(of: authority, until: deadline)
        let metadata = try await searchMetadata(of: authority, until: deadline)
        let until = isComplete ? nil : timing.uptime() + pause
        knownMetadata.withLock { $0[authority] = (.success(metadata), until) }
        return metadata
      } catch {
        // A refusal is kept only for a while, since a gateway's may look like the server's. Other failures are not
        // kept.
        if error.isOAuthRefusal {
          let until = timing.uptime() + pause
          knownMetadata.withLock { $0[authority] = (.failure(error), until) }
        }
        throw error
      }
    }
    return try await metadataSearches.run(authority, search)
  }

  /// Checks whether the configured authority can be reached and has the metadata that a sign-in needs.
  package func checkAuthority() async throws(IdentityError) {
    _ = try await metadata(of: configuration.authority)
  }

  private func searchMetadata(
    of authority: Authority, until deadline: Duration
  ) async throws(IdentityError) -> AuthorityMetadata {
    let host = authority.kind == .aad ? cache.clouds.preferredNetwork(of: authority.host) : authority.host
    let path = authority.address.dropFirst("https://\(authority.host)".count)
    let version = authority.isMicrosofts ? "/v2.0" : ""
    let document = try await fields(
      at: "https://\(host)\(path)\(version)/.well-known/openid-configuration", until: deadline)
    return try AuthorityMetadata(document, of: authority, in: cache.clouds)
  }

  private func fields(
    at address: String, query: [String: String] = [:], until deadline: Duration
  ) async throws(IdentityError) -> JSONObject {
    guard let url = URL(string: address) else {
      throw .authorityValidationFailed("The authority's address cannot be used.")
    }
    let response = try await sender.send(to: url.appending(query: query), until: deadline)
    do throws(IdentityError) {
      return try response.fields()
    } catch var error where error.isOAuthRefusal {
      error.code = .authorityValidationFailed
      error.message = "The authority was not recognised: \(error.message)"
      throw error
    }
  }

  /// Requests the aliases of an unknown authority's host. A known authority of the application is asked itself, and
  /// need not respond; others are looked up at Microsoft. Returns whether the result is final.
  private func discoverCloud(
    of authority: Authority, until deadline: Duration
  ) async throws(IdentityError) -> Bool {
    guard authority.kind == .aad, !cache.clouds.contains(authority.host) else { return true }
    let isOwn = configuration.knownAuthorities.contains { $0.host == authority.host }
    guard isOwn || configuration.validateAuthority else { return true }
    let host = isOwn ? authority.host : Authority.default.host
    do throws(IdentityError) {
      let fields = try await fields(
        at: "https://\(host)/common/discovery/instance",
        query: [
          "api-version": "1.1", "authorization_endpoint": "\(authority.address)/oauth2/v2.0/authorize",
        ], until: deadline)
      guard fields["tenant_discovery_endpoint"]?.stringValue.nonBlank != nil else {
        throw .authorityValidationFailed("Instance discovery did not recognise the authority.")
      }
      insert(fields["metadata"]?.arrayValue ?? [], about: authority, isTrusted: !isOwn)
      return true
    } catch  where isOwn {
      log(.debug, "The authority does not say which other hosts it has.", ["reason": log.reason(error)])
      return !error.isOutage
    }
  }

  /// Stores the clouds of an instance discovery. Tokens of a host are sent to its aliases, so a host that describes
  /// itself can only name hosts of its own domain, and cannot join a known cloud.
  private func insert(_ clouds: [JSONValue], about authority: Authority, isTrusted: Bool) {
    let known = cache.clouds
    let found = clouds.compactMap { $0.objectValue.flatMap(CloudInstance.init(discovered:)) }
    cache.insert(
      found.filter { instance in
        instance.hosts.contains { $0.normalized == authority.host }
          && (isTrusted || instance.hosts.allSatisfy { !known.contains($0) && authority.hasDomain(of: $0) })
      })
  }
}

extension Authority {
  /// Whether a host is in the same domain, such as `sts.contoso.com` for `login.contoso.com`.
  fileprivate func hasDomain(of other: String) -> Bool {
    let (own, other) = (host.normalized, other.normalized)
    let domain = own.drop { $0 != "." }
    let isInDomain = own.contains(where: \.isLetter) && domain.dropFirst().contains(".")
    return own == other || isInDomain && domain == other.drop { $0 != "." }
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
