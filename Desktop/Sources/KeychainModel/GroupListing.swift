import Configuration
public import FoundationEssentials
import Localization
public import TokenCache

/// What the window shows of one group.
public struct GroupListing: Sendable, Hashable {
  public let group: KeychainGroup
  public let accounts: [AccountEntry]
  /// What cannot be shown, or should be known of.
  public let troubles: [Trouble]
  /// What ``Keychain/removeDamaged(in:)`` would remove or accept.
  public let damage: [Damage]

  /// A part of a group that cannot be read.
  public struct Damage: Sendable, Hashable {
    /// What it is, at the start of a sentence.
    public let name: String
    /// When it was last written, where the store knows that.
    public let modified: Date?
    /// Whether it would be removed; otherwise it is an older version, and would count as the current one.
    public let isRemoved: Bool
  }

  /// The client ID of an app with tokens in the group that is none of Microsoft's.
  public var ownClientID: String? {
    accounts.lazy.flatMap(\.clientIDs).first { KnownNames.app($0) == nil }
  }
}

extension [AccountEntry] {
  /// Those that a search finds.
  public func found(_ search: Search) -> [AccountEntry] {
    filter { account in
      guard search.words.allSatisfy({ account.searchText.contains($0) }) else { return false }
      switch search.filter {
      case .all: return true
      case .expired: return account.tokens.contains { $0.isExpired(at: search.now) }
      case .needsSignIn: return account.needsSignIn(at: search.now)
      }
    }
  }
}

/// What a list shows.
public struct Search: Sendable {
  /// The accounts and tokens of a list.
  public enum Filter: Sendable, CaseIterable {
    case all, expired, needsSignIn
  }

  let words: [String]
  let filter: Filter
  let now: Date

  /// - Parameters:
  ///   - text: Every word of it is somewhere: in a name, an id, a tenant, a client or a scope.
  ///   - filter: The accounts and tokens to show.
  ///   - now: The time.
  public init(_ text: String = "", filter: Filter = .all, at now: Date = Date()) {
    words = text.lowercased().split(separator: " ").map(String.init)
    (self.filter, self.now) = (filter, now)
  }
}

/// An account, or an app, with its tokens.
public struct AccountEntry: Sendable, Hashable, Identifiable {
  /// The home account id; empty for what belongs to no account.
  public let id: String
  /// The user name, else the id.
  public let title: String
  /// The person's name, else the cloud.
  public let subtitle: String
  /// Access tokens first, those that end last before the others.
  public let tokens: [TokenEntry]
  private let hasRecord: Bool
  /// The names of the accounts that an app has tokens of, by ID in lower case; `nil` for an account.
  private let owners: [String: String]?

  /// What to search in, in lower case: the account's own text, and the same with those of its tokens.
  private let ownText: String
  let searchText: String

  init(id: String, account: Account?, tokens: [TokenEntry]) {
    self.id = id
    hasRecord = account != nil
    owners = nil
    let name = account?.tenantProfiles.lazy.compactMap(\.name).first
    title = printable(account?.username ?? name ?? (id.isEmpty ? localized("Applications") : id))
    let environment = account?.environment ?? tokens.lazy.compactMap(\.environment).first
    subtitle = printable(
      (account?.username == nil ? nil : name)
        ?? (id.isEmpty ? localized("Tokens that belong to no account") : environment ?? ""))
    let tenantIDs = account?.tenantProfiles.map(\.tenantID) ?? []
    self.tokens = tokens
    let names = account?.tenantProfiles.flatMap { [$0.username, $0.name] } ?? []
    let fields =
      [id, title, subtitle, environment].compactMap(\.self) + tenantIDs + names.compactMap(\.self)
    ownText = fields.joined(separator: "\n").lowercased()
    searchText = ([ownText] + tokens.map(\.searchText)).joined(separator: "\n")
  }

  /// An app with its tokens.
  init(id: String, title: String, subtitle: String, tokens: [TokenEntry], owners: [String: String]) {
    (self.id, self.title, self.subtitle, self.tokens, self.owners) = (id, title, subtitle, tokens, owners)
    hasRecord = false
    ownText = title.lowercased()
    searchText = ([ownText] + owners.values.map { $0.lowercased() } + tokens.map(\.searchText))
      .joined(separator: "\n")
  }

  /// Whether it is an app.
  public var isApp: Bool { owners != nil }

  /// What tells a token from others here: the app of an account's token, and the account of an app's.
  public func label(of token: TokenEntry) -> String? {
    owners.map { $0[(token.homeAccountID ?? "").lowercased()] } ?? token.app
  }

  /// The tokens that a search finds. All of them where it finds the account alone.
  public func tokens(_ search: Search) -> [TokenEntry] {
    let words = search.words.filter { !ownText.contains($0) }
    let found = tokens.filter { token in
      (search.filter != .expired || token.isExpired(at: search.now))
        && words.allSatisfy { token.searchText.contains($0) }
    }
    return found.isEmpty ? tokens : found
  }

  /// The clients that have tokens of the account, in the order of their ids.
  public var clientIDs: [String] { Set(tokens.compactMap(\.clientID)).sorted() }
  /// The apps that have tokens of the account: those with a known name by that, then the others by client ID.
  public var apps: [String] {
    let others = Set(tokens.filter { $0.appName == nil }.compactMap(\.app))
    return Set(tokens.compactMap(\.appName)).sorted() + others.sorted()
  }

  public var canBeRemoved: Bool { !id.isEmpty && !isApp }

  /// Whether the account, or one with tokens of the app, needs a sign-in.
  public func needsSignIn(at now: Date) -> Bool {
    isApp ? tokens.contains { $0.requiredSignIn != nil } : requiredSignIn(at: now) != nil
  }

  /// The sign-in that it needs: a renewal was refused, or it has only tokens that serve no more. `nil` where it needs none.
  public func requiredSignIn(at now: Date) -> SignInRequest? {
    guard hasRecord, let last = tokens.first else { return nil }
    if let refused = tokens.lazy.compactMap(\.requiredSignIn).first { return refused }
    let serves = tokens.contains { $0.id.section == .refreshToken || $0.serves(at: now) }
    return serves ? nil : SignInRequest(last, accountName: title)
  }

  /// A sign-in of this account, whatever it has.
  public var signIn: SignInRequest { SignInRequest(accountID: id, name: title) }
}

extension GroupListing {
  /// Lists what was read. Accounts that can no longer be read have the names of an earlier reading.
  init(
    of group: KeychainGroup, _ snapshot: CacheSnapshot, known names: [String: String] = [:],
    clientNames: [String: String] = [:], refusal: (TokenEntry.ID) -> Refusal? = { _ in nil }
  ) {
    let document = snapshot.document
    // Where something hides all of the group, the problems say so.
    let known = (try? snapshot.accounts()) ?? []
    let knownIDs = Set(known.map { $0.homeAccountID.lowercased() })
    var tokens: [String: [TokenEntry]] = [:]
    var renewable: [TokenLookup: Bool] = [:]
    for section in CredentialSection.allCases {
      for (key, credential) in document[section] {
        let account = (credential.homeAccountID ?? "").lowercased()
        var isRenewable = false
        if section == .accessToken, let lookup = credential.lookup, knownIDs.contains(account) {
          isRenewable = renewable[lookup] ?? !snapshot.refreshTokens(for: lookup).isEmpty
          renewable[lookup] = isRenewable
        }
        // It is about tokens that may have been replaced since.
        let refusal = refusal(TokenEntry.ID(section: section, key: key)).flatMap {
          $0.fingerprint == snapshot.fingerprint(of: credential) ? $0 : nil
        }
        tokens[account, default: []].append(
          TokenEntry(
            section, key: key, credential, isRenewable: isRenewable, refusal: refusal,
            clientNames: clientNames))
      }
    }
    var accounts = known.map { account in
      AccountEntry(
        id: account.homeAccountID, account: account,
        tokens: (tokens.removeValue(forKey: account.homeAccountID.lowercased()) ?? []).inOrder)
    }
    accounts += tokens.sorted { $0.key < $1.key }
      .map { AccountEntry(id: $0.key, account: nil, tokens: $0.value.inOrder) }
    self.group = group
    self.accounts = accounts
    troubles = snapshot.problems.map(Trouble.init)
    let problems = snapshot.problems.filter { $0.remedy != .none }
    let shards = problems.isEmpty ? [] : names.map { (ShardID(homeAccountID: $0, group: group), $1) }
    damage = problems.map { problem in
      let account = shards.first { $0.0 == problem.shard }?.1
      let name =
        switch problem.shard {
        case nil: localized("The group’s index")
        case ShardID(homeAccountID: nil, group: group): localized("What the apps of the group share")
        case let shard?:
          account.map { localized("The tokens of %s", $0) }
            ?? localized("The tokens of an unknown account (%s)", shard.rawValue.prefix(8))
        }
      return Damage(name: name, modified: problem.modified, isRemoved: problem.remedy == .removal)
    }
  }
}

extension [TokenEntry] {
  fileprivate var inOrder: [TokenEntry] {
    let sections = CredentialSection.allCases
    return sorted { one, other in
      if one.id.section != other.id.section {
        return sections.firstIndex(of: one.id.section) ?? 0 < sections.firstIndex(of: other.id.section) ?? 0
      }
      let ends = (one.expiresOn ?? .distantPast, other.expiresOn ?? .distantPast)
      return ends.0 == ends.1 ? one.id.key < other.id.key : ends.0 > ends.1
    }
  }
}
