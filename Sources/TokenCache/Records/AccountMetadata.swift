/// A client's metadata of its accounts: whether they are signed in, and which authority responded for which.
///
/// The shard of an account holds a record with that account alone; the record without an account names the current account
/// of an application that has one.
public struct AccountMetadata: CacheRecord {
  public var fields: JSONObject

  public init(fields: JSONObject) { self.fields = fields }

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

  var homeAccountIDs: [String] { accounts.keys.sorted() }

  private var accounts: JSONObject { fields[Self.accountMap]?.objectValue ?? [:] }

  /// Whether it says nothing.
  var isBlank: Bool {
    accounts.isEmpty && fields.keys.allSatisfy { ["client_id", Self.accountMap].contains($0) }
  }

  /// Whether an account is signed in to this client.
  public func signInState(of homeAccountID: String) -> SignInState {
    SignInState(of: account(homeAccountID))
  }

  /// Sets an account's state; signing out forgets its resolved authorities.
  public mutating func setSignInState(_ state: SignInState, of homeAccountID: String) {
    update(homeAccountID) { account in
      account["sign_in_state"] = .string(state.rawValue)
      if state == .signedOut { account[Self.authorityMap] = nil }
    }
  }

  mutating func removeSignInState(of homeAccountID: String) {
    update(homeAccountID) { $0["sign_in_state"] = nil }
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
    let rest = accounts.filter { !homeAccountID.matches($0.key) }
    if rest.count != accounts.count { fields[Self.accountMap] = rest.isEmpty ? nil : .object(rest) }
  }

  func hasAccount(_ homeAccountID: String) -> Bool { accounts[name(of: homeAccountID, in: accounts)] != nil }

  /// The record's parts in the shards of a group, by the normalized id of the account, which is empty for the shard without
  /// an account. A record without a client ID is not split.
  var parts: [String: AccountMetadata] {
    guard clientID != nil, !accounts.isEmpty else { return ["": self] }
    var parts = Dictionary(grouping: accounts) { $0.key.normalized }.mapValues { entries in
      AccountMetadata(fields: [
        "client_id": self.fields["client_id"] ?? .null,
        Self.accountMap: .object(Dictionary(entries.map { ($0.key, $0.value) }) { first, _ in first }),
      ])
    }
    var rest = fields
    rest[Self.accountMap] = parts[""]?.fields[Self.accountMap]
    if rest.count > 1 { parts[""] = AccountMetadata(fields: rest) }
    return parts
  }

  private static let accountMap = "account_metadata_map"
  /// Misspelled by MSAL for iOS and macOS, and so part of the format.
  private static let authorityMap = "athority_map"

  private static func mapName(_ instanceAware: Bool) -> String {
    instanceAware ? "URLMap-instance_aware=YES" : "URLMap-"
  }

  private func account(_ homeAccountID: String) -> JSONObject? {
    accounts[name(of: homeAccountID, in: accounts)]?.objectValue
  }

  private mutating func update(_ homeAccountID: String, _ change: (inout JSONObject) -> Void) {
    var accounts = accounts
    let name = name(of: homeAccountID, in: accounts)
    var account = accounts[name]?.objectValue ?? [:]
    change(&account)
    account["client_id"] = fields["client_id"]
    account["home_account_id"] = .string(name)
    accounts[name] = .object(account)
    fields[Self.accountMap] = .object(accounts)
  }

  /// The spelling of an account's id in the map: the normalized one, else the first.
  private func name(of homeAccountID: String, in accounts: JSONObject) -> String {
    let normalized = homeAccountID.normalized
    if accounts[normalized] != nil { return normalized }
    return accounts.keys.filter { $0.normalized == normalized }.min() ?? homeAccountID
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
