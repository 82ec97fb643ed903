import GLibSupport
import Synchronization

/// A program that has a name on a bus and never replies.
package final class SilentPeer: Sendable {
  private let calls = Atomic(0)
  private let bus: BusConnection

  package init(_ name: String, on keyring: PrivateKeyring) throws {
    (bus, _) = try keyring.connect()
    try bus.serve([name]) { [weak self] _ in self?.calls.add(1, ordering: .sequentiallyConsistent) }
  }

  /// Whether a method was called.
  package var wasCalled: Bool { calls.load(ordering: .sequentiallyConsistent) > 0 }
}
