import Localization

extension GroupListing {
  /// The apps that have tokens in the group, each with those of all accounts: by their names, and then those without one.
  public var apps: [AccountEntry] {
    var tokens: [String?: [(account: AccountEntry, token: TokenEntry)]] = [:]
    for account in accounts {
      for token in account.tokens {
        tokens[token.clientID?.lowercased(), default: []].append((account, token))
      }
    }
    return tokens.map { AccountEntry(clientID: $0, $1) }
      .sorted {
        ($0.hasName ? 0 : 1, $0.title.lowercased(), $0.id) < (
          $1.hasName ? 0 : 1, $1.title.lowercased(), $1.id
        )
      }
  }
}

extension AccountEntry {
  fileprivate init(clientID: String?, _ tokens: [(account: AccountEntry, token: TokenEntry)]) {
    let accounts = Dictionary(tokens.map { ($0.account.id.lowercased(), $0.account.title) }) { first, _ in
      first
    }
    let name = tokens.first?.token.app
    self.init(
      // No account has such an ID.
      id: "app \(clientID ?? "")", title: name ?? localized("Unknown App"),
      subtitle: accounts.count == 1
        ? accounts.values.first ?? ""
        : localized("%d account", "%d accounts", count: accounts.count, accounts.count),
      tokens: tokens.map(\.token), owners: accounts)
  }

  fileprivate var hasName: Bool { tokens.contains { $0.appName != nil } }
}
