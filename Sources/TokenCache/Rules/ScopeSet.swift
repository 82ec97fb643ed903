/// The scopes of a `target` field or of a request, compared without regard to order and case.
public struct ScopeSet: Sendable, Hashable {
  /// Lower-cased scopes.
  public let scopes: Set<String>
  /// Computed once, since every lookup needs it.
  private let hash: Int

  /// Reads scopes separated by white space.
  public init(_ target: String) {
    self.init(names: Set(Self.list(target).map { $0.lowercased() }))
  }

  /// The scopes of a text, separated by white space, in its case and order.
  public static func list(_ target: String) -> [String] {
    target.unicodeScalars.split(whereSeparator: \.isWhitespace).map { String($0) }
  }

  /// Makes a set of single scopes.
  public init(_ scopes: some Sequence<String>) {
    var names: Set<String> = []
    for name in scopes.lazy.map(\.normalized) where !name.isEmpty { names.insert(name) }
    self.init(names: names)
  }

  private init(names: Set<String>) {
    scopes = names
    hash = names.hashValue
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(hash) }

  /// Whether a token with these scopes satisfies a request for `requested`.
  public func satisfies(_ requested: ScopeSet) -> Bool { requested.scopes.isSubset(of: scopes) }

  /// The scopes that identify a token's resource. Those of OpenID Connect do not: servers add them to every response.
  var significant: Set<String> { scopes.subtracting(Self.openIDConnect) }

  /// The scopes of OpenID Connect (https://openid.net/specs/openid-connect-core-1_0.html#ScopeClaims).
  public static let openIDConnect: Set<String> = [
    "openid", "profile", "email", "address", "phone", "offline_access",
  ]

  /// Whether at least one scope is in both.
  public func intersects(_ other: ScopeSet) -> Bool { !scopes.isDisjoint(with: other.scopes) }
}
