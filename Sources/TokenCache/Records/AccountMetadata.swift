/// What one client knows of the accounts it has met: whether they are signed in, and which authority answered
/// for which.
public struct AccountMetadata: CacheRecord {
  public var fields: JSONObject

  public init(fields: JSONObject) {
    self.fields = fields
  }

  package static let replacedFields: Set<String> = []
  package static let spellings: Set<String> = ["client_id"]

  public init(clientID: String) {
    fields = [:]
    set("client_id", clientID)
  }

  public var clientID: String? { string("client_id") }

  /// The account of an application that has only one.
  public var principalHomeAccountID: String? {
    get { string("principal_home_account_id") }
    set { set("principal_home_account_id", newValue) }
  }
  public var principalUsername: String? {
    get { string("principal_username") }
    set { set("principal_username", newValue) }
  }
  public var principalAccountEnvironment: String? {
    get { string("principal_account_environment") }
    set { set("principal_account_environment", newValue) }
  }

  /// The client id keeps its case.
  package var serializedKey: String { "authority_map-\(clientID ?? "")" }

  /// The accounts that the client has met.
  var homeAccountIDs: [String] { (fields[Self.accountMap]?.objectValue ?? [:]).keys.sorted() }

  /// Whether an account is signed in to this client.
  public func signInState(of homeAccountID: String) -> SignInState {
    SignInState(of: account(homeAccountID))
  }

  /// The states of all accounts that the client has met, by their normalized ids.
  var signInStates: [String: SignInState] {
    let accounts = fields[Self.accountMap]?.objectValue ?? [:]
    return Dictionary(accounts.keys.map { ($0.normalized, [$0]) }, uniquingKeysWith: +).mapValues { names in
      SignInState(of: accounts[Self.preferred(names) ?? ""]?.objectValue)
    }
  }

  /// Sets an account's state; signing out forgets which authorities answered for it.
  public mutating func setSignInState(_ state: SignInState, of homeAccountID: String) {
    update(homeAccountID) { account in
      account["sign_in_state"] = .string(state.rawValue)
      if state == .signedOut { account[Self.authorityMap] = nil }
    }
  }

  /// The authority that answered when `authority` was asked for an account.
  public func resolvedAuthority(
    for authority: String, homeAccountID: String, instanceAware: Bool = false
  ) -> String? {
    let maps = account(homeAccountID)?[Self.authorityMap]?.objectValue
    return maps?[Self.mapName(instanceAware)]?.objectValue?[authority]?.stringValue
  }

  /// Remembers the authority that answered when `authority` was asked for an account.
  public mutating func setResolvedAuthority(
    _ resolved: String, for authority: String, homeAccountID: String, instanceAware: Bool = false
  ) {
    update(homeAccountID) { account in
      var maps = account[Self.authorityMap]?.objectValue ?? [:]
      var map = maps[Self.mapName(instanceAware)]?.objectValue ?? [:]
      map[authority] = .string(resolved)
      maps[Self.mapName(instanceAware)] = .object(map)
      account[Self.authorityMap] = .object(maps)
    }
  }

  /// Forgets an account.
  public mutating func removeAccount(_ homeAccountID: String) {
    guard let accounts = fields[Self.accountMap]?.objectValue else { return }
    fields[Self.accountMap] = .object(accounts.filter { !homeAccountID.matches($0.key) })
  }

  private static let accountMap = "account_metadata_map"
  /// Misspelt by MSAL for iOS and macOS, and so part of the format.
  private static let authorityMap = "athority_map"

  private static func mapName(_ instanceAware: Bool) -> String {
    instanceAware ? "URLMap-instance_aware=YES" : "URLMap-"
  }

  private func account(_ homeAccountID: String) -> JSONObject? {
    guard let accounts = fields[Self.accountMap]?.objectValue else { return nil }
    return accounts[name(of: homeAccountID, in: accounts)]?.objectValue
  }

  private mutating func update(_ homeAccountID: String, _ change: (inout JSONObject) -> Void) {
    var accounts = fields[Self.accountMap]?.objectValue ?? [:]
    let name = name(of: homeAccountID, in: accounts)
    let known = accounts[name]?.objectValue
    var account = known ?? [:]
    account["client_id"] = fields["client_id"]
    account["home_account_id"] = .string(name)
    change(&account)
    // The map may have thousands of accounts, which a change copies.
    guard account != known else { return }
    accounts[name] = .object(account)
    fields[Self.accountMap] = .object(accounts)
  }

  /// The spelling under which an account stands in the map, whatever spelling is asked for.
  private func name(of homeAccountID: String, in accounts: JSONObject) -> String {
    let normalized = homeAccountID.normalized
    if accounts[normalized] != nil { return normalized }
    return Self.preferred(accounts.keys.filter { $0.normalized == normalized }) ?? homeAccountID
  }

  /// The one of an account's spellings that counts: the normalized one, else the first.
  private static func preferred(_ names: [String]) -> String? {
    names.first { $0.normalized == $0 } ?? names.min()
  }
}

/// Whether an account is signed in to a client.
public enum SignInState: String, Sendable, Hashable {
  /// Nobody said; the account counts as signed in if it has a refresh token.
  case unknown
  case signedIn = "signed_in"
  case signedOut = "signed_out"

  fileprivate init(of account: JSONObject?) {
    self = account?["sign_in_state"]?.stringValue.flatMap(Self.init(rawValue:)) ?? .unknown
  }
}
