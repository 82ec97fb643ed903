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
  /// The tenant as it stands in the path.
  let tenant: String
  /// What stands before the endpoint's path, for example `/common`; empty if nothing does.
  let prefix: String

  init?(_ segments: ArraySlice<Substring>) {
    let parts = segments.map { $0.lowercased() }
    let named = parts.first == "tfp" ? parts.dropFirst() : parts[...]
    prefix = parts.map { "/" + $0 }.joined()
    if parts.isEmpty {
      kind = .pathless
      tenant = LabDirectory.contoso
    } else if parts == ["adfs"] {
      kind = .adfs
      tenant = LabDirectory.contoso
    } else if named.count == 2, let tenant = named.first, let policy = named.last, policy.hasPrefix("b2c_1") {
      kind = .b2c(policy: policy)
      self.tenant = tenant
    } else if parts.count == 1 {
      kind = .entra
      tenant = parts[0]
    } else {
      return nil
    }
  }
}

/// Where a request goes.
struct LabRoute: Sendable {
  let endpoint: LabEndpoint
  let authority: LabAuthority?

  init(path: String) {
    let segments = path.split(separator: "/")[...]
    if let fixed = Self.fixed[segments.joined(separator: "/")] {
      endpoint = fixed
      authority = nil
    } else if segments.first == "v1.0" || segments.first == "beta" {
      endpoint = .graph
      authority = nil
    } else if segments.first == "protected" {
      endpoint = .protected
      authority = nil
    } else {
      for (suffix, endpoint) in Self.suffixes where segments.suffix(suffix.count).elementsEqual(suffix) {
        if let authority = LabAuthority(segments.dropLast(suffix.count)) {
          self.endpoint = endpoint
          self.authority = authority
          return
        }
      }
      endpoint = .other
      authority = nil
    }
  }

  private static let fixed: [String: LabEndpoint] = [
    "__ctl": .control, "__log": .log,
    "common/discovery/instance": .instance, "discovery/instance": .instance,
    "common/oauth2/deviceauth": .devicePage, "common/oauth2/nativeclient": .nativeClient,
    "oidc/userinfo": .userInfo,
  ]

  /// The longer ones first; those without a version are ADFS's.
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
