struct ScopeRequest: Sendable {
  /// The scopes of a resource as in responses: Microsoft Graph's without the resource.
  var names: [String] = []
  var isOpenID = false
  var isOffline = false
  var echoed: [String] = []
  private var resources: Set<String> = []

  private static let graph = "https://graph.microsoft.com"
  /// Scopes that are returned in this spelling, whatever their case in the request.
  private static let spellings = [
    "User.Read", "User.ReadWrite", "User.ReadBasic.All", "User.Read.All", "Mail.Read", "Mail.ReadBasic",
    "Mail.ReadWrite", "Mail.Send", "Calendars.Read", "Calendars.ReadWrite", "Contacts.Read", "Files.Read",
    "Files.ReadWrite", "Files.ReadWrite.All", "Tasks.Read", "Directory.Read.All",
  ]

  init() {}

  /// One request for a token (`isToken`) may be for one resource only; consent may span several. Scopes of Graph that are
  /// `unknown` are refused.
  init(_ text: String, isToken: Bool, unknown: [String]) throws(LabError) {
    for scope in text.split(separator: " ").map(String.init) {
      switch scope.lowercased() {
      case "openid":
        isOpenID = true
        echoed.append("openid")
      case "profile", "email": echoed.append(scope.lowercased())
      case "offline_access": isOffline = true
      default: try add(scope, unknown: unknown)
      }
    }
    if isToken, resources.count > 1 {
      throw .invalidRequest(
        28000,
        "Provided value for the input parameter scope is not valid because it contains more than one resource."
      )
    }
  }

  static let graphAudience = "00000003-0000-0000-c000-000000000000"

  /// The resource the access token is for; Microsoft Graph for OpenID scopes alone.
  var audience: String {
    guard let resource = resources.first, resource != Self.graph else {
      return Self.graphAudience
    }
    return resource
  }

  private mutating func add(_ scope: String, unknown: [String]) throws(LabError) {
    // No scope of Graph's own has a slash; a resource may be an application's id.
    let slash = scope.lastIndex(of: "/")
    let resource = slash.map { String(scope[..<$0]) } ?? Self.graph
    let name = slash.map { String(scope[scope.index(after: $0)...]) } ?? scope
    resources.insert(resource)
    if resource != Self.graph {
      names.append(scope)
    } else if name == ".default" {
      names += ["User.Read", "Mail.Read"]
    } else if name.wholeMatch(of: /[A-Za-z][A-Za-z0-9-]*(\.[A-Za-z0-9-]+)+/) != nil,
      !unknown.contains(where: { $0.lowercased() == name.lowercased() })
    {
      names.append(Self.spellings.first { $0.lowercased() == name.lowercased() } ?? name)
    } else {
      throw LabError(
        "invalid_client", 650_053,
        "The application asked for scope '\(name)' that doesn't exist on the resource \(resource).")
    }
  }

  func contains(anyOf wanted: [String]) -> Bool {
    names.contains { wanted.contains($0) }
  }

  var text: String { (names + echoed).joined(separator: " ") }
}
