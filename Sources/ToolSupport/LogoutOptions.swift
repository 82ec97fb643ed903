package import ArgumentParser
package import IdentityClient
import TokenCache

package struct LogoutOptions: CommandOptions {
  package static let configuration = CommandConfiguration(
    commandName: "logout",
    abstract: "Sign an account out of the client: forget its tokens.",
    discussion: """
      Other clients of the group keep their tokens; "llavero clear" removes those too. With --browser, the \
      browser's session with the authority ends as well. It is no error when nobody is signed in.

      Examples:
        llavero logout --account alice@contoso.com
        llavero logout --all --browser

      JSON: group, client_id, signed_out: [home_account_id, username].
      """)

  private struct Result: Encodable {
    struct Account: Encodable {
      let homeAccountId: String
      let username: String?
    }
    let group: String
    let clientId: String
    let signedOut: [Account]
  }

  @OptionGroup package var client: ClientOptions
  @OptionGroup package var account: AccountOptions
  @OptionGroup package var output: OutputOptions

  @Flag(help: "Every account that is signed in to the client.")
  package var all = false

  @Flag(help: "End the browser's session too.")
  package var browser = false

  package init() {}

  package func validate() throws {
    guard !all || account.account == nil else { throw ValidationError("Give --account or --all, not both.") }
  }

  /// Signs the accounts out that the command line names.
  ///
  /// - Throws: `Failure.Message`; with `--all` also when there may be more of them than could be read.
  package func signOut(of client: PublicClient) async throws {
    let snapshot = try await client.snapshot()
    let accounts = try accounts(in: snapshot, of: client.configuration.clientID)
    for account in accounts {
      do throws(IdentityError) {
        try await client.signOut(account, SignOutOptions(fromBrowser: browser))
      } catch {
        throw Failure.Message(error)
      }
    }
    if output.json {
      let result = Result(
        group: client.cache.group.name, clientId: client.configuration.clientID,
        signedOut: accounts.map { Result.Account(homeAccountId: $0.homeAccountID, username: $0.username) })
      if all { try snapshot.checkAll() }
      return Terminal.out(try json(result))
    }
    if accounts.isEmpty { Terminal.error("Nobody is signed in.") }
    for account in accounts {
      Terminal.out("Signed out \(printable(account.username ?? account.homeAccountID)).")
    }
    if all { try snapshot.checkAll() }
  }

  private func accounts(
    in snapshot: CacheSnapshot, of clientID: String
  ) throws(Failure.Message) -> [Account] {
    if all || account.named == nil {
      let accounts = try snapshot.accounts(named: nil, of: clientID)
      if all || accounts.isEmpty { return accounts }
    }
    return [try snapshot.account(named: account.named, of: clientID)]
  }
}
