package import ArgumentParser
package import IdentityClient

/// Whether the machine's identity broker is asked for tokens.
package struct BrokerOptions: ParsableArguments {
  @Option(
    name: .customLong("broker"),
    help: ArgumentHelp(
      "Whether the machine's identity broker gives the tokens: auto (before the network), off, or only.",
      valueName: "auto|off|only"),
    completion: .list(BrokerPolicy.allCases.map(\.rawValue)), transform: { try BrokerPolicy(word: $0) })
  package var named: BrokerPolicy?

  package init() {}

  package var policy: BrokerPolicy { named ?? Settings.current.broker ?? .automatic }
}

extension BrokerPolicy {
  /// - Throws: `ValidationError` for a word that is none of a policy.
  fileprivate init(word: String) throws {
    guard let policy = BrokerPolicy(rawValue: word) else {
      throw ValidationError("It should be auto, off or only.")
    }
    self = policy
  }
}
