import FoundationEssentials
import IdentityClient
import TokenCache
import WorkerSupport

/// One user's part in a soak: reads and renews, and signs in when told to or if no account is signed in.
struct SoakUser {
  struct Report: Encodable {
    /// How often each operation succeeded, by name.
    var done: [String: Int] = [:]
    /// How often each operation failed, by name and error.
    var failed: [String: Int] = [:]
  }

  /// Something that the soak must know at once.
  struct Event: Encodable {
    /// `save_failed`: a returned token could not be saved. `interaction_required`: no account is signed in, or the server
    /// refused the refresh token. `signing_out`: expect that next. `signed_in`: the account is signed in again.
    let event: String
    let detail: String
  }

  let client: PublicClient
  let scopes: [String]
  let username: String
  /// Whether it signs out now and then, which is not possible with a shared account.
  let signsOut: Bool

  /// Works until standard input ends, and reports.
  func run() async {
    let isOver = EndOfInput()
    var report = Report()
    while !isOver.isReached {
      let operation = next()
      do throws(IdentityError) {
        try await perform(operation)
        report.done[operation, default: 0] += 1
      } catch {
        report.failed["\(operation) \(error.code.rawValue)", default: 0] += 1
        if error.code == .interactionRequired {
          write(
            json: Event(event: "interaction_required", detail: "\(error.oauthError ?? "") \(error.message)"))
          await signIn(&report)
        }
      }
      try? await Task.sleep(for: .milliseconds(5))
    }
    write(json: report)
  }

  private func next() -> String {
    switch Int.random(in: 0..<100) {
    case 0..<15: "renew"
    case 15..<18 where signsOut: "sign_out"
    default: "read"
    }
  }

  private func perform(_ operation: String) async throws(IdentityError) {
    let account = try await client.accounts().first { $0.username == username }
    guard let account else { throw IdentityError(.interactionRequired, "There is no account.") }
    if operation == "sign_out" { return try await signOutAndIn(account) }
    note(
      try await client.acquireTokenSilent(
        SilentRequest(scopes: scopes, account: account, forceRefresh: operation == "renew")))
  }

  private func signOutAndIn(_ account: Account) async throws(IdentityError) {
    write(json: Event(event: "signing_out", detail: username))
    try await client.signOut(account)
    note(try await client.acquireToken(DeviceCodeRequest(showing: scopes)))
    write(json: Event(event: "signed_in", detail: username))
  }

  private func signIn(_ report: inout Report) async {
    do throws(IdentityError) {
      note(try await client.acquireToken(DeviceCodeRequest(showing: scopes)))
      report.done["sign_in", default: 0] += 1
      write(json: Event(event: "signed_in", detail: username))
    } catch {
      report.failed["sign_in \(error.code.rawValue)", default: 0] += 1
    }
  }

  private func note(_ result: AuthenticationResult) {
    if let error = result.cacheError { write(json: Event(event: "save_failed", detail: error.code.rawValue)) }
  }
}
