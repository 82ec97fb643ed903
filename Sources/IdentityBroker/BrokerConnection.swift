import CGLib
import GLibSupport
import IdentityClient
import Synchronization

/// Blocking calls to the broker on the session bus. Connects when it is first needed, and again when the bus is another
/// one.
///
/// Safe to use from any thread, but not from Swift's cooperative pool, where blocking is forbidden. Methods are called
/// blindly: brokers after version 2.0.1 describe themselves to nobody.
final class BrokerConnection: Sendable {
  static let name = "com.microsoft.identity.broker1"
  private static let path = "/com/microsoft/identity/broker1"
  private static let interface = "com.microsoft.identity.Broker1"

  private let busAddress: String?
  private let current = Mutex<BusConnection?>(nil)

  init(busAddress: String?) {
    self.busAddress = busAddress
  }

  /// Calls a method, which starts a broker that does not run but can be started, and waits for the answer until the
  /// deadline, and no longer than `limit`.
  ///
  /// - Throws: ``IdentityError/Code/noBroker`` when there is neither, ``IdentityError/Code/brokerFailed`` for whatever
  ///   is no answer of the right type, and ``IdentityError/Code/cancelled``.
  func call(
    _ method: BrokerMethod, correlationID: String, within limit: Duration?, _ cancellable: Cancellable
  ) throws(IdentityError) -> String {
    let bus = try connection(cancellable)
    do {
      let answer = try bus.call(
        Self.name, Self.path, Self.interface, method.name,
        [.string(BrokerMethod.protocolVersion), .string(correlationID), .string(method.text)], reply: "(s)",
        within: limit, cancellable)
      return answer.first?.string ?? ""
    } catch {
      throw IdentityError(error, calling: method.name, cancellable)
    }
  }

  /// Whether a broker runs, or could be started.
  ///
  /// - Throws: As ``call(_:correlationID:within:_:)``; no bus is no broker.
  func presence(_ cancellable: Cancellable) throws(IdentityError) -> LinuxBroker.Presence {
    let bus: BusConnection
    do {
      bus = try connection(cancellable)
    } catch {
      if error.code == .noBroker { return .absent }
      throw error
    }
    if try ask(bus, "NameHasOwner", [.string(Self.name)], "(b)", cancellable)?.boolean == true {
      return .running
    }
    let names = try ask(bus, "ListActivatableNames", [], "(as)", cancellable)?.strings ?? []
    return names.contains(Self.name) ? .startable : .absent
  }

  /// The bus's own name of the broker that runs; `nil` when none does.
  func owner(_ cancellable: Cancellable) -> String? {
    guard let bus = try? connection(cancellable) else { return nil }
    return (try? ask(bus, "GetNameOwner", [.string(Self.name)], "(s)", cancellable))?.string
  }

  private func ask(
    _ bus: BusConnection, _ method: String, _ arguments: [Variant], _ reply: String,
    _ cancellable: Cancellable
  ) throws(IdentityError) -> Variant? {
    let driver = "org.freedesktop.DBus"
    do {
      return try bus.call(
        driver, "/org/freedesktop/DBus", driver, method, arguments, reply: reply, cancellable
      ).first
    } catch {
      throw IdentityError(error, calling: method, cancellable)
    }
  }

  private func connection(_ cancellable: Cancellable) throws(IdentityError) -> BusConnection {
    if let bus = current.withLock({ $0 }), !bus.isClosed { return bus }
    do throws(GLibError) {
      let bus = try BusConnection(address: busAddress, cancellable)
      current.withLock { $0 = bus }
      return bus
    } catch {
      if error.isIO(G_IO_ERROR_CANCELLED) { throw IdentityError(error, calling: "Hello", cancellable) }
      throw .noBroker("There is no session bus on which an identity broker could be asked.")
    }
  }
}

extension IdentityError {
  static func noBroker(_ message: String) -> IdentityError {
    IdentityError(
      .noBroker, message,
      advice: "Have the machine joined to the organisation, with its broker installed, or do without one.")
  }

  /// The names of errors that somebody answers with who works.
  private static let refusals: Set = [
    "org.freedesktop.DBus.Error.Failed", "org.freedesktop.DBus.Error.NotSupported",
    "org.freedesktop.DBus.Error.UnknownMethod",
  ]

  /// What a call on the bus ended with.
  fileprivate init(_ error: GLibError, calling method: String, _ cancellable: Cancellable) {
    switch error.dbusName {
    case "org.freedesktop.DBus.Error.ServiceUnknown":
      self = .noBroker("There is no identity broker on the session bus.")
    case _ where error.isIO(G_IO_ERROR_CANCELLED) && !cancellable.isPastDeadline:
      self = .cancelled
    case _ where error.isIO(G_IO_ERROR_CANCELLED) || error.isIO(G_IO_ERROR_TIMED_OUT):
      self = .brokerFailed("it did not answer \(method) in time")
    case "org.freedesktop.DBus.Error.NoReply":
      self = .brokerFailed("it ended, or gave no answer to \(method)")
    case .some(let name):
      let text = error.message.withoutTokens.printable(limit: 500)
      self = .brokerFailed("\(method) ended with \(name.printable(limit: 200)), \"\(text)\"")
      if Self.refusals.contains(name) { brokerStatus = 0 }
    case nil where error.isIO(G_IO_ERROR_INVALID_ARGUMENT):
      // GDBus: the reply is not of the type that was asked for.
      self = .brokerFailed("its answer to \(method) is of another type than it should be")
    case nil:
      self = .brokerFailed("\(method) failed, \"\(error.message.printable(limit: 500))\"")
    }
  }
}
