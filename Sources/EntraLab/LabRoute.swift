/// The authority in a URL's path, in the variants of Entra, Azure AD B2C, ADFS and External ID.
struct LabAuthority: Sendable, Equatable {
  enum Kind: Sendable, Equatable {
    case entra
    case b2c(policy: String)
    case adfs
    /// External ID without a tenant in its path.
    case pathless
  }

  let kind: Kind
  let tenant: String
  /// The path before the endpoint's, for example `/common`; may be empty.
  let prefix: String

  init?(_ segments: ArraySlice<Substring>) {
    let parts = segments.map { $0.lowercased() }
    let named = parts.first == "tfp" ? parts.dropFirst() : parts[...]
    prefix = parts.map { "/" + $0 }.joined()
    if parts.isEmpty || parts == ["adfs"] {
      (kind, tenant) = (parts.isEmpty ? .pathless : .adfs, LabDirectory.contoso)
    } else if named.count == 2, let tenant = named.first, let policy = named.last, policy.hasPrefix("b2c_1") {
      (kind, self.tenant) = (.b2c(policy: policy), tenant)
    } else if parts.count == 1 {
      (kind, tenant) = (.entra, parts[0])
    } else {
      return nil
    }
  }
}

struct LabRoute: Sendable {
  let endpoint: LabEndpoint
  let authority: LabAuthority?

  init(path: String) {
    let segments = path.split(separator: "/")[...]
    if let fixed = Self.fixed[segments.joined(separator: "/")] ?? Self.roots[segments.first ?? ""] {
      (endpoint, authority) = (fixed, nil)
      return
    }
    for (suffix, endpoint) in Self.suffixes where segments.suffix(suffix.count).elementsEqual(suffix) {
      if let authority = LabAuthority(segments.dropLast(suffix.count)) {
        (self.endpoint, self.authority) = (endpoint, authority)
        return
      }
    }
    (endpoint, authority) = (.other, nil)
  }

  /// The endpoints of all paths below a root.
  private static let roots: [Substring: LabEndpoint] = [
    "v1.0": .graph, "beta": .graph, "protected": .protected,
  ]

  private static let fixed: [String: LabEndpoint] = [
    "__ctl": .control, "__log": .log,
    "common/discovery/instance": .instance, "discovery/instance": .instance,
    "common/oauth2/deviceauth": .devicePage, "common/oauth2/nativeclient": .nativeClient,
    "oidc/userinfo": .userInfo,
  ]

  /// The longer ones first; those without a version are for AD FS.
  private static let suffixes: [([Substring], LabEndpoint)] = [
    (["v2.0", ".well-known", "openid-configuration"], .discovery),
    ([".well-known", "openid-configuration"], .discovery),
    (["oauth2", "v2.0", "authorize"], .authorize), (["oauth2", "authorize"], .authorize),
    (["oauth2", "v2.0", "token"], .token), (["oauth2", "token"], .token),
    (["oauth2", "v2.0", "devicecode"], .deviceCode), (["oauth2", "devicecode"], .deviceCode),
    (["oauth2", "v2.0", "logout"], .logout), (["oauth2", "logout"], .logout),
    (["discovery", "v2.0", "keys"], .keys), (["discovery", "keys"], .keys),
    (["login"], .login),
  ]
}
