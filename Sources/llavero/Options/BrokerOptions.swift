import ArgumentParser
import GLibSupport
import IdentityBroker
import IdentityClient

/// Whether the machine's identity broker is asked for tokens.
struct BrokerOptions: ParsableArguments {
  @Option(
    name: .customLong("broker"), help: ArgumentHelp(.broker, "auto|off|only"),
    completion: .list(BrokerPolicy.allCases.map(\.rawValue)),
    transform: { word in
      guard let policy = BrokerPolicy(rawValue: word) else {
        throw ValidationError("expected auto, off or only")
      }
      return policy
    })
  var named: BrokerPolicy?

  var policy: BrokerPolicy { named ?? Settings.current.broker ?? .automatic }
}

extension LinuxBroker {
  /// The session bus's broker. It is not asked for anything yet.
  ///
  /// - Parameter ignoresRecentFailure: Whether it is asked also after a failure that is remembered.
  /// - Returns: The broker.
  static func ofSession(ignoresRecentFailure: Bool = false) -> LinuxBroker {
    #if DEBUG
      // A test waits for no limit, and a busy machine keeps to none.
      if let limit = processEnvironment()["LLAVERO_TEST_BROKER_LIMIT"].flatMap(Int.init) {
        return LinuxBroker(limit: .milliseconds(limit), ignoresRecentFailure: ignoresRecentFailure)
      }
    #endif
    return LinuxBroker(ignoresRecentFailure: ignoresRecentFailure)
  }
}

extension BrokerPolicy {
  /// Whom a client with this policy asks.
  var broker: (any TokenBroker)? { self == .off ? nil : LinuxBroker.ofSession() }
}
