import TestSupport

/// A made-up cache: two accounts, tokens in every state, and secrets that are easy to find.
enum Sample {
  static let alice = "0a0a0a0a-1111-4111-8111-111111111111.aaaaaaaa-0000-4000-8000-00000000000a"
  static let bob = "0b0b0b0b-2222-4222-8222-222222222222.aaaaaaaa-0000-4000-8000-00000000000a"
  static let mail = "11111111-2222-4333-8444-555555555555"
  static let calendar = "99999999-2222-4333-8444-555555555555"
  static let (past, future) = ("1767225600", "4102444800")

  static let claims = #"{"aud":"\#(mail)","exp":\#(future),"name":"Alice","camelCase":{"innerCase":true}}"#

  static var cache: String {
    cache([
      account(alice, "Alice@contoso.example"), account(bob, "bob@contoso.example"),
      accessToken("valid", alice, mail, "User.Read Mail.Read", expiresOn: future),
      accessToken("extended", alice, mail, "Files.Read", expiresOn: past, extended: future),
      accessToken("expired", alice, calendar, "Calendars.Read", expiresOn: past),
      accessToken("bobs", bob, mail, "User.Read", expiresOn: past),
      refreshToken("alices", alice, mail), refreshToken("bobs", bob, mail), idToken(alice, mail),
      .appMetadata(key: "appmetadata-h-\(mail)", client: mail, host: host),
    ])
  }

  /// One account with a token that still serves; one for decades, as in `cache`, does not.
  static var alices: String {
    let expiry = Int(Date().timeIntervalSince1970) + 3600
    return cache([
      account(alice, "alice@contoso.example"),
      accessToken("valid", alice, mail, "User.Read Mail.Read", expiresOn: "\(expiry)"),
      refreshToken("alices", alice, mail), idToken(alice, mail),
    ])
  }

  /// The same cache an hour later, with other refresh tokens.
  static var later: String {
    cache(at: "1767229200").replacing("secret-rt", with: "secret-new")
  }

  /// One with a refresh token of no account, and one that is there twice.
  static var faulty: String {
    cache([
      account(alice, "alice@contoso.example"), refreshToken("stray", "9.x", mail),
      refreshToken("alices", alice, mail), refreshToken("alices", alice, mail, keyEnd: ""),
    ])
  }

  static let host = "login.microsoftonline.com"

  /// The sample cache with its tokens from another time.
  static func cache(at time: String) -> String {
    cache.replacing(#""cached_at":"\#(past)""#, with: #""cached_at":"\#(time)""#)
  }

  /// Records as a serialized cache.
  static func cache(_ records: [SampleRecord]) -> String {
    String(decoding: (try? CacheDocument(records).json()) ?? Data(), as: UTF8.self)
  }

  static func account(_ id: String, _ username: String, name: String = "Somebody") -> SampleRecord {
    let parts = id.split(separator: ".").map(String.init)
    return .account(
      id, key: "\(id)-\(host)-\(parts[1])", host: host, realm: parts[1],
      [
        "local_account_id": .string(parts[0]), "username": .string(username), "name": .string(name),
        "authority_type": "MSSTS",
      ])
  }

  static func accessToken(
    _ name: String, _ account: String, _ client: String, _ scopes: String, at time: String = past,
    expiresOn: String, extended: String = past
  ) -> SampleRecord {
    let tenant = tenant(of: account)
    return .accessToken(
      "secret-at-\(name)", key: "\(account)-\(host)-accesstoken-\(client)-\(tenant)-\(scopes.lowercased())",
      of: account, client: client, host: host, realm: tenant, scopes: scopes,
      [
        "token_type": "Bearer", "cached_at": .string(time), "expires_on": .string(expiresOn),
        "extended_expires_on": .string(extended), "private_extra": .string("secret-extra-\(name)"),
      ])
  }

  static func refreshToken(
    _ name: String, _ account: String, _ client: String, keyEnd: String = "--"
  ) -> SampleRecord {
    .refreshToken(
      "secret-rt-\(name)", key: "\(account)-\(host)-refreshtoken-\(client)\(keyEnd)", of: account,
      client: client, host: host)
  }

  static func idToken(_ account: String, _ client: String, claims: String = claims) -> SampleRecord {
    let tenant = tenant(of: account)
    let token = "\(Data(#"{"alg":"none"}"#.utf8).base64URL).\(Data(claims.utf8).base64URL).secret-signature"
    return .idToken(
      token, key: "\(account)-\(host)-idtoken-\(client)-\(tenant)-", of: account, client: client, host: host,
      realm: tenant)
  }

  private static func tenant(of account: String) -> String {
    account.split(separator: ".").last.map(String.init) ?? ""
  }
}

extension Tool {
  /// Runs the commands on a group in another store than the keyring, which stays empty. `last` runs before the group is
  /// cleared.
  func expectCommandsToWork(
    besideKeyring keyring: [String: String?], then last: () throws -> Void = {}
  ) throws {
    try load()
    #expect(try json("list", "--groups")["groups"]?.strings("group").contains(group) == true)
    let records = try json("list")["records"]
    #expect(records?.arrayValue?.count == 10)
    try self("show", records?[0]?["id"]?.stringValue ?? "").exits(0)
    try self("list").exits(0, showing: "bob@contoso.example")
    try self("clear", "--expired", "--yes").exits(0)
    let exported = try exported().secrets
    #expect(exported.contains("secret-at-valid") && !exported.contains("secret-at-expired"))
    try last()
    #expect(try json("list", with: keyring)["records"]?.arrayValue?.isEmpty == true)
    try self("clear", "--all", "--yes").exits(0)
  }
}

/// A group in the file store.
struct SealedGroup {
  let path: String

  /// The tool's group in the store below `data`, which `XDG_DATA_HOME` names (default: the directory of the test's files).
  init(of tool: Tool, in data: TemporaryDirectory? = nil) {
    path = "\((data ?? tool.files).path)/llavero/sealed/groups/\(tool.group)"
  }

  /// The files of its shards.
  func shards() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path)
      .filter { $0.hasSuffix(".sealed") && !$0.hasPrefix("manifest") }.sorted().map { "\(path)/\($0)" }
  }

  /// Changes a byte of a shard, by default of the first.
  ///
  /// - Returns: The damaged contents.
  @discardableResult
  func damage(_ shard: String? = nil) throws -> Data {
    let file = URL(filePath: try shard ?? #require(shards().first))
    var bytes = try Data(contentsOf: file)
    bytes[500] ^= 1
    try bytes.write(to: file)
    return bytes
  }
}
