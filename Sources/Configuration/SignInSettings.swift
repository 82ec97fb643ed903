public import IdentityClient
import Sealing
public import TokenCache

// What a sign-in needs, alike in tool and window.
extension Settings {
  /// Returns the authority to sign in at.
  ///
  /// - Parameters:
  ///   - address: The authority's URL, which goes before that of the settings.
  ///   - tenant: Its tenant, which goes before that of the settings. That one belongs to the authority of the settings.
  /// - Returns: The authority; without settings the default one.
  /// - Throws: ``IdentityError/Code/invalidParameter``.
  public func signInAuthority(
    _ address: String? = nil, tenant: String? = nil
  ) throws(IdentityError) -> Authority {
    var authority = Authority.default
    if let address = address ?? self.authority { authority = try Authority(address) }
    guard let tenant = tenant ?? (address == nil ? self.tenant : nil) else { return authority }
    return try authority.replacingTenant(with: tenant)
  }

  /// The authority that the settings name, without their tenant; `nil` where they name none.
  ///
  /// Reading it throws ``ConfigurationError``, which says where an invalid one stands.
  public var namedAuthority: Authority? {
    get throws(ConfigurationError) {
      guard let authority else { return nil }
      do throws(IdentityError) {
        return try Authority(authority)
      } catch {
        throw ConfigurationError(
          "invalid_authority", "Invalid \(place(of: .authority)): \(error.description)")
      }
    }
  }

  /// The scopes to ask for where none are named.
  public var signInScopes: [String] {
    let scopes = scopes ?? []
    return scopes.isEmpty ? ScopeSet.list(Setting.scope.standard ?? "") : scopes
  }

  /// Sets the client to one that a person entered, and the tenant, unless that is empty.
  ///
  /// - Throws: ``ConfigurationError`` that names what is invalid.
  public mutating func setClient(_ clientID: String, tenant: String) throws(ConfigurationError) {
    try read(.client, clientID, from: "client ID")
    if !tenant.trimmed.isEmpty { try read(.tenant, tenant, from: "tenant") }
  }
}

extension ClientConfiguration {
  /// The configuration of a program of Llavero.
  ///
  /// - Parameters:
  ///   - program: Its name, for the server's operators.
  ///   - clientID: The client ID of the app.
  ///   - authority: The authority.
  ///   - trusted: An authority that is trusted outside of the known clouds, too, only because the person named it.
  public init(program: String, clientID: String, authority: Authority, trusting trusted: Authority?) {
    self.init(
      clientID: clientID, authority: authority, knownAuthorities: trusted.map { [$0] } ?? [])
    httpTimeout = .seconds(60)
    applicationName = program
    applicationVersion = Self.libraryVersion
  }
}

extension TokenCacheAccessor {
  /// Throws early if a write would fail, because the store's key is out of reach or the store cannot be made.
  ///
  /// - Throws: ``CacheError``
  public func prepareStore() async throws(CacheError) {
    try await (store as? any SealedStore)?.open(makingStore: true)
  }
}
