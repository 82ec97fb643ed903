/// The scopes of a `target` field or of a request, compared without regard to order and case.
public struct ScopeSet: Sendable, Hashable {
  /// Lower-cased scopes.
  public let scopes: Set<String>

  /// Reads scopes separated by white space.
  public init(_ target: String) {
    scopes = Set(
      target.unicodeScalars.split(whereSeparator: \.properties.isWhitespace).map { String($0).lowercased() })
  }

  /// Takes scopes one by one.
  public init(_ scopes: some Sequence<String>) {
    var names: Set<String> = []
    for name in scopes.lazy.map(\.normalized) where !name.isEmpty { names.insert(name) }
    self.scopes = names
  }

  /// Whether a token for these scopes serves a request for `requested`.
  public func satisfies(_ requested: ScopeSet) -> Bool {
    requested.scopes.isSubset(of: scopes)
  }

  /// Whether two tokens are for some of the same things. That both are for `openid` says nothing of that,
  /// unless it is all that one of them is for: servers add the scopes of OpenID Connect to every answer.
  func overlaps(_ other: ScopeSet) -> Bool {
    let (mine, theirs) = (scopes.subtracting(Self.openID), other.scopes.subtracting(Self.openID))
    return mine.isEmpty || theirs.isEmpty ? intersects(other) : !mine.isDisjoint(with: theirs)
  }

  private static let openID: Set<String> = [
    "openid", "profile", "email", "address", "phone", "offline_access",
  ]

  /// Marks find the sets that overlap without comparing each with each: two overlap if one has a mark that is among
  /// the other's counterparts.
  enum Mark: Hashable {
    case any(String)
    /// A set with more than the scopes of OpenID Connect has one for each that is none of these.
    case significant(String)
    /// A set with these alone has this one for each.
    case bare(String)
  }

  var marks: [Mark] {
    let significant = scopes.subtracting(Self.openID)
    return scopes.map(Mark.any)
      + (significant.isEmpty ? scopes.map(Mark.bare) : significant.map(Mark.significant))
  }

  var counterparts: [Mark] {
    let significant = scopes.subtracting(Self.openID)
    return significant.isEmpty
      ? scopes.map(Mark.any) : significant.map(Mark.significant) + scopes.map(Mark.bare)
  }

  /// Whether one scope at least is in both.
  public func intersects(_ other: ScopeSet) -> Bool {
    !scopes.isDisjoint(with: other.scopes)
  }
}
