import BrowserSignIn
import FoundationEssentials
import GLibSupport
import IdentityBroker
import IdentityClient
import TokenCache

extension Check {
  /// Checks whether the identity broker gives tokens, with a client ID also whether for that. The token is not stored. A failure
  /// is a problem only where the broker is required: otherwise only some users cannot sign in without it.
  static func broker(
    _ client: (id: String, authority: Authority, scopes: [String])?, _ policy: BrokerPolicy
  ) -> Check {
    @Sendable func finding(_ message: String, _ advice: String?) -> [Finding] {
      policy == .required ? .problem(message, advice: advice) : .warning(message, advice: advice)
    }
    /// What is a problem only where the broker is required.
    @Sendable func unavailable(_ message: String, _ advice: String) -> [Finding] {
      policy == .required ? .problem(message, advice: advice) : .ok(message)
    }
    let off = "set LLAVERO_BROKER=off, or \"broker = off\" in the configuration."
    return Check(name: "identity_broker") { setup in
      guard policy != .off else { return .ok("The identity broker is not used.") }
      guard await sessionBus.findings(setup).contains(where: { $0.state == .ok }) else {
        let (message, advice) = (
          "An identity broker cannot be reached: there is no session bus.",
          "Turn the broker off: \(off)"
        )
        // A server has none.
        let isDesktop = SystemBrowser(environment: setup.environment).isAvailable
        return isDesktop ? finding(message, advice) : unavailable(message, advice)
      }
      let broker = LinuxBroker.ofSession(ignoresRecentFailure: true)
      var findings: [Finding] = []
      do throws(IdentityError) {
        let presence = try await broker.presence()
        guard presence != .absent else {
          return unavailable(
            "There is no identity broker on the session bus.",
            "Join the machine to the organisation, or turn the broker off: \(off)")
        }
        let clock = ContinuousClock.now
        let version = try await broker.version(correlationID: UUID())
        let time = Int((ContinuousClock.now - clock) / .milliseconds(1))
        let state = presence == .running ? "runs" : "was started"
        findings += .ok("The identity broker \(state): version \(version), response time \(time) ms.")
        guard let client else {
          return findings
            + .warning(
              "Whether the broker gives tokens was not checked: no client ID set.",
              advice: "Set LLAVERO_CLIENT_ID.")
        }
        guard client.authority.kind == .aad else {
          return findings
            + unavailable(
              "The broker gives tokens of Entra ID only, and the authority is of another kind.",
              "Set another authority, or turn the broker off: \(off)")
        }
        let accounts = try await broker.accounts(clientID: client.id, correlationID: UUID())
        guard let account = accounts.first else {
          return findings
            + finding("The identity broker has no account for the client.", BrokerFailure.portal)
        }
        findings += .ok(
          "It has \(accounts.count == 1 ? "one account" : "\(accounts.count) accounts") for the client.")
        _ = try await broker.tokenSilently(
          BrokerRequest(
            clientID: client.id, authority: client.authority, scopes: client.scopes, account: account,
            correlationID: UUID()))
        return findings + .ok("It gives tokens for \(client.scopes.joined(separator: " ")).")
      } catch {
        let advice = BrokerFailure.advice(on: error) ?? error.asFailure.advice
        return findings + finding(BrokerFailure.summary(of: error), advice)
      }
    }
  }
}

/// Known failures of brokers, and what helps.
enum BrokerFailure {
  static let portal =
    "Sign in where the broker keeps its accounts: in Microsoft's company portal or Edge, or with Himmelblau by "
    + "logging in to the machine again."

  /// Describes a failure by its codes. The broker's own text may contain a user name or home directory.
  static func summary(of error: IdentityError) -> String {
    let subError = error.subError.flatMap { word in
      word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") } ? word : nil
    }
    let marks =
      [error.code.rawValue] + error.stsErrorCodes.map { "AADSTS\($0)" }
      + [subError, error.brokerStatus.map { "status \($0)" }].compactMap(\.self)
    return "The identity broker gives no token: \(marks.joined(separator: ", "))."
  }

  /// Returns what to do about a failure; `nil` where that is not known.
  static func advice(on error: IdentityError) -> String? {
    switch error.code {
    case .interactionRequired, .workplaceJoinRequired:
      return sentences(error.advice, portal)
    case .brokerFailed: break
    default: return nil
    }
    let words = error.message.lowercased()
    if let known = table.first(where: { $0.marks.contains { words.contains($0) } }) { return known.advice }
    // It refused.
    if error.brokerStatus != nil { return nil }
    return "It hangs, fails or has no account: read journalctl --user --unit himmelblau-broker (or "
      + "microsoft-identity-broker), and log in to the machine with an account of the organisation."
  }

  private static let table: [(marks: [String], advice: String)] = [
    (
      ["broker socket connect"],
      "Himmelblau's daemon is not running: sudo systemctl enable --now himmelblaud himmelblaud-tasks"
    ),
    (["broker socket read"], "Himmelblau's daemon hangs: sudo systemctl restart himmelblaud"),
    (
      ["no interactive prompt", "display", "pinentry"],
      "The broker's environment has no display: "
        + "dbus-update-activation-environment --systemd DISPLAY WAYLAND_DISPLAY XAUTHORITY, and install pinentry."
    ),
    (
      ["portal", "secret service", "keyring", "4kv4v", "4ulu3"],
      "The broker keeps its keys with the Secret portal, which has no backend: install gnome-keyring and "
        + "xdg-desktop-portal-gtk, and unlock the keyring."
    ),
    (["spawn", "activate", "could not start"], "It cannot be started: reinstall its package."),
  ]
}
