import TokenCache

extension Authority {
  /// Whether a scope is asked for in any case, so that a request with it is refused: those that tokens of every sign-in have, and
  /// the client ID, which Azure AD B2C alone takes for a scope.
  public func reserves(_ scope: String, for clientID: String) -> Bool {
    let name = scope.normalized
    return RequestedScopes.reserved.contains(name) || name == clientID.normalized && kind != .b2c
  }
}

/// The scopes of a request, and their comparison with those of the response.
package struct RequestedScopes: Sendable {
  /// The application's scopes, in its order.
  let scopes: [String]

  /// The scopes that the library always adds.
  package static let reserved = ["openid", "profile", "offline_access"]

  /// - Throws: ``IdentityError/Code/invalidParameter`` for an invalid scope, and for those that the library adds.
  package init(_ scopes: [String], clientID: String, authority: Authority) throws(IdentityError) {
    for scope in scopes {
      guard !scope.isEmpty, !scope.hasWhitespace else {
        throw IdentityError(.invalidParameter, "A scope must have characters and no white space.")
      }
      guard !authority.reserves(scope, for: clientID) else {
        throw IdentityError(
          .invalidParameter, "The scope \(scope) is reserved.",
          advice: "openid, profile and offline_access are asked for in any case.")
      }
    }
    self.scopes = scopes
  }

  /// The `scope` parameter.
  func parameter(adding more: [String] = []) -> String {
    var seen: Set<String> = []
    return (scopes + more + Self.reserved).filter { seen.insert($0.normalized).inserted }
      .joined(separator: " ")
  }

  /// The granted scopes as the cache stores them: as the server wrote them, with those of the request that mean the
  /// same. Without the latter the next lookup would miss the token.
  func target(granted: String?) -> String? {
    guard let granted else { return nil }
    let literal = ScopeSet(granted).scopes
    let names = Set(literal.map(Self.shortName))
    let added = scopes.filter { scope in
      !literal.contains(scope.normalized)
        && (Self.isDefault(scope) || names.contains(Self.shortName(scope.normalized)))
    }
    return (ScopeSet.list(granted) + added).joined(separator: " ")
  }

  /// The scopes of a target of ``target(granted:)``, each once and as the server wrote them.
  static func granted(in target: String) -> [String] {
    var names: Set<String> = []
    return ScopeSet.list(target)
      .filter { names.insert(shortName($0.normalized)).inserted }
  }

  /// The requested scopes that were not granted. If the response has no scopes, all were granted (RFC 6749 section
  /// 5.1).
  func declined(granted: String?) -> [String] {
    guard let granted else { return [] }
    let names = Set(ScopeSet(granted).scopes.map(Self.shortName))
    return scopes.filter { scope in
      let name = scope.normalized
      // `email` only affects the ID token's claims.
      return name != "email" && !Self.isDefault(name) && !names.contains(Self.shortName(name))
    }
  }

  /// The granted scopes that were not requested. Only the server knows the scopes of `/.default`.
  package static func excess(_ granted: [String], over asked: [String]) -> Set<String> {
    guard !asked.contains(where: isDefault) else { return [] }
    let usual = reserved + ["email", "address", "phone"] + asked
    return Set(granted.map { shortName($0.normalized) }).subtracting(usual.map { shortName($0.normalized) })
  }

  private static func isDefault(_ scope: String) -> Bool { scope.normalized.hasSuffix("/.default") }

  /// The canonical name of a scope, in lower case. For Entra ID a scope of Microsoft Graph is the same with the
  /// resource and without, and responses have the short names.
  package static func shortName(_ scope: String) -> String {
    for host in KnownCloud.graphHosts {
      let prefix = "https://\(host)/"
      if scope.hasPrefix(prefix) { return String(scope.dropFirst(prefix.count)) }
    }
    return scope
  }
}
