import ArgumentParser
import IdentityClient
import TokenCache

struct Logout: AsyncParsableCommand, SignsIn {
  static let configuration = CommandConfiguration(
    commandName: "logout",
    abstract: "Sign out, and remove the account's tokens.",
    discussion: """
      Other clients of the group keep their tokens; "llavero clear" removes those too. With --browser, the \
      browser's session with the authority ends as well. It is not an error if no account is signed in. An \
      account of the machine's identity broker stays there for other programs, and is not used silently by \
      this client any more.

      Examples:
        llavero logout --account alice@contoso.com
        llavero logout --all --browser

      JSON: group, client_id, signed_out: [home_account_id, username, environment].
      """)

  @Flag(help: "Sign out every account of the client.")
  var all = false

  @Flag(help: "End the browser's session too.")
  var browser = false

  @OptionGroup var account: AccountOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup(title: "Client options") var appOptions: AppOptions
  @OptionGroup var groupOption: GroupOption
  @OptionGroup(title: "Store options") var storeOptions: StoreOptions
  @OptionGroup(title: "Broker options") var broker: BrokerOptions

  func validate() throws {
    guard !all || account.account == nil else {
      throw ValidationError("--account and --all exclude each other.")
    }
  }

  func run() async throws {
    let client = try browser ? networkClient(broker: broker.policy) : publicClient(broker: broker.policy)
    let snapshot = try await client.cache.snapshot()
    let found = try await accounts(in: snapshot, of: client)
    var signedOut: [Account] = []
    var failure: IdentityError?
    for account in found.accounts {
      do throws(IdentityError) {
        try await client.signOut(account, SignOutOptions())
        signedOut.append(account)
      } catch {
        failure = failure ?? error
        if error.code == .cancelled { break }
      }
    }
    if output.json {
      try Terminal.out([
        "group": client.cache.group.name, "client_id": client.configuration.clientID,
        "signed_out": signedOut.map(\.members),
      ])
    } else if found.accounts.isEmpty {
      Terminal.note("No account is signed in.")
    }
    for account in signedOut where !output.json {
      Terminal.out("Signed out \(printable(account.username ?? account.homeAccountID)).")
    }
    if !signedOut.isEmpty, !output.json { await client.cache.store.noteLateWrite() }
    if let failure, failure.code == .cancelled { throw failure }
    // If no browser starts, the tokens are removed all the same, and each account's page is shown.
    for account in signedOut where browser {
      do throws(IdentityError) {
        try await client.endSession(of: account, SignOutOptions())
      } catch {
        failure = failure ?? error
        if error.code == .cancelled { break }
      }
    }
    if let failure { throw failure }
    // An unreadable shard may hold more accounts.
    if all { try snapshot.checkComplete() }
    if let failure = found.brokerFailure { throw failure }
  }

  private func accounts(
    in snapshot: CacheSnapshot, of client: PublicClient
  ) async throws -> DeviceAccounts {
    if all { return try await client.accountsEverywhere(named: nil, in: snapshot) }
    let named = account.named
    var found = DeviceAccounts(
      accounts: try snapshot.accounts(named: named, of: client.configuration.clientID))
    // The broker may have accounts that the cache lacks.
    if found.accounts.isEmpty { found = try await client.accountsEverywhere(named: named, in: snapshot) }
    if found.accounts.isEmpty, account.account == nil {
      // The settings may name an account that is signed out already.
      let all = try await client.accountsEverywhere(named: nil, in: snapshot)
      if all.accounts.isEmpty { return all }
    }
    found.accounts = [
      try found.accounts.only(named: named, in: snapshot, because: found.brokerFailure)
    ]
    // An unreadable shard may hold another account.
    if named == nil { try snapshot.checkComplete() }
    return found
  }
}
