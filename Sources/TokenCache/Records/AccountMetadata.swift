/// A client's metadata of its accounts: whether they are signed in, and which authority responded for which.
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

  /// The accounts in the metadata.
  var homeAccountIDs: [String] { (fields[Self.accountMap]?.objectValue ?? [:]).keys.sorted() }

  /// Whether an account is signed in to this client.
  public func signInState(of homeAccountID: String) -> SignInState {
    SignInState(of: account(homeAccountID))
  }

  /// The states of all accounts in the metadata, by their normalized ids.
  var signInStates: [String: SignInState] {
    let accounts = fields[Self.accountMap]?.objectValue ?? [:]
    return Dictionary(accounts.keys.map { ($0.normalized, [$0]) }, uniquingKeysWith: +).mapValues { names in
      SignInState(of: accounts[Self.preferred(names) ?? ""]?.objectValue)
    }
  }

  /// Sets an account's state; signing out forgets its resolved authorities.
  public mutating func setSignInState(_ state: SignInState, of homeAccountID: String) {
    update(homeAccountID) { account in
      account["sign_in_state"] = .string(state.rawValue)
      if state == .signedOut { account[Self.authorityMap] = nil }
    }
  }

  /// The authority that responded when `authority` was requested for an account.
  public func resolvedAuthority(
    for authority: String, homeAccountID: String, instanceAware: Bool = false
  ) -> String? {
    let maps = account(homeAccountID)?[Self.authorityMap]?.objectValue
    return maps?[Self.mapName(instanceAware)]?.objectValue?[authority]?.stringValue
  }

  /// Saves the authority that responded when `authority` was requested for an account.
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

  /// Removes an account from the metadata.
  public mutating func removeAccount(_ homeAccountID: String) {
    guard let accounts = fields[Self.accountMap]?.objectValue else { return }
    fields[Self.accountMap] = .object(accounts.filter { !homeAccountID.matches($0.key) })
  }

  private static let accountMap = "account_metadata_map"
  /// Misspelled by MSAL for iOS and macOS, and so part of the format.
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
    // The map may have thousands of accounts, which every change copies.
    guard account != known else { return }
    accounts[name] = .object(account)
    fields[Self.accountMap] = .object(accounts)
  }

  /// The spelling of an account's id in the map.
  private func name(of homeAccountID: String, in accounts: JSONObject) -> String {
    let normalized = homeAccountID.normalized
    if accounts[normalized] != nil { return normalized }
    return Self.preferred(accounts.keys.filter { $0.normalized == normalized }) ?? homeAccountID
  }

  /// The spelling that counts: the normalized one, else the first.
  private static func preferred(_ names: [String]) -> String? {
    names.first { $0.normalized == $0 } ?? names.min()
  }
}

/// Whether an account is signed in to a client.
public enum SignInState: String, Sendable, Hashable {
  /// No state was saved; the account counts as signed in if it has a refresh token.
  case unknown
  case signedIn = "signed_in"
  case signedOut = "signed_out"

  fileprivate init(of account: JSONObject?) {
    self = account?["sign_in_state"]?.stringValue.flatMap(Self.init(rawValue:)) ?? .unknown
  }
}
