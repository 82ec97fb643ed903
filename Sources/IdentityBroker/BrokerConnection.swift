import CGLib
import FoundationEssentials
import GLibSupport
import IdentityClient
import Synchronization

/// Blocking calls to the broker on the session bus. Connects when it is first needed, and again when the bus is another
/// one.
///
/// Safe to use from any thread, but not from Swift's cooperative pool, where blocking is forbidden. Methods are called
/// blindly: brokers after version 2.0.1 do not answer introspection.
final class BrokerConnection: Sendable {
  static let name = "com.microsoft.identity.broker1"
  private static let path = "/com/microsoft/identity/broker1"
  private static let interface = "com.microsoft.identity.Broker1"

  private let busAddress: String?
  /// How long to wait for a response that needs no person.
  private let limit: Duration
  /// How long to wait for the bus itself, on which everything else waits, too.
  private static let busLimit = Duration.seconds(60)
  private let current = Mutex<BusConnection?>(nil)

  init(busAddress: String?, limit: Duration) {
    self.busAddress = busAddress
    self.limit = limit
  }

  /// Calls a method, which starts a broker that does not run but can be started, and waits for the response.
  ///
  /// `onEnd` is called if the broker ended in the call, so that one that is there now is another.
  ///
  /// - Throws: ``IdentityError/Code/noBroker`` when there is neither, ``IdentityError/Code/brokerFailed`` for whatever
  ///   is not a response of the right type, and ``IdentityError/Code/cancelled``.
  func call(
    _ method: BrokerMethod, correlationID: UUID, _ cancellable: Cancellable, onEnd: () -> Void = {}
  ) throws(IdentityError) -> String {
    let bus = try bus()
    // In lower case, as it stands in the server's logs.
    let id = correlationID.text
    do {
      let response = try bus.call(
        Self.name, Self.path, Self.interface, method.name,
        [.string(BrokerMethod.protocolVersion), .string(id), .string(method.text)], reply: "(s)",
        within: method.asksPerson ? nil : limit, cancellable)
      return response.first?.string ?? ""
    } catch {
      if error.dbusName == noReply { onEnd() }
      throw IdentityError(error, calling: method.name)
    }
  }

  /// Whether a broker runs, or could be started. No bus is no broker.
  func presence(_ cancellable: Cancellable) throws(IdentityError) -> LinuxBroker.Presence {
    do {
      let bus = try bus()
      if try ask(bus, "NameHasOwner", [.string(Self.name)], "(b)", cancellable)?.boolean == true {
        return .running
      }
      let names = try ask(bus, "ListActivatableNames", [], "(as)", cancellable)?.strings ?? []
      return names.contains(Self.name) ? .startable : .absent
    } catch  where error.code == .noBroker {
      return .absent
    }
  }

  /// Which run of the broker is there, or none once it `hasEnded`: the bus's identifier, which no other bus has, and the
  /// bus's own name for the broker. `nil` where the bus does not say.
  func instance(hasEnded: Bool = false, _ cancellable: Cancellable) -> String? {
    guard let bus = try? bus(), let id = bus.busID else { return nil }
    let owner =
      hasEnded ? nil : try? ask(bus, "GetNameOwner", [.string(Self.name)], "(s)", cancellable)?.string
    return id + " " + (owner ?? "-")
  }

  private func ask(
    _ bus: BusConnection, _ method: String, _ arguments: [Variant], _ reply: String,
    _ cancellable: Cancellable
  ) throws(IdentityError) -> Variant? {
    do {
      return try bus.ask(method, arguments, reply: reply, within: Self.busLimit, cancellable)
    } catch {
      throw IdentityError(error, calling: method)
    }
  }

  /// The connection to the bus. No bus is no broker, a silent one is a failure.
  @discardableResult
  func bus() throws(IdentityError) -> BusConnection {
    if let bus = current.withLock({ $0 }), !bus.isClosed { return bus }
    // Not the call's: to connect takes its time by itself, and a caller that gives up does not wait for this.
    let cancellable = Cancellable(timeout: Self.busLimit)
    let endDeadline = cancellable.enforceDeadline()
    defer { endDeadline() }
    do {
      let bus = try BusConnection(address: busAddress, cancellable)
      current.withLock { $0 = bus }
      return bus
    } catch {
      if error.isIO(G_IO_ERROR_CANCELLED) { throw .brokerFailed("the session bus did not respond in time") }
      throw .noBroker("The session bus, and the identity broker on it, cannot be reached.")
    }
  }
}

/// The bus's error for a service that left it before it replied.
private let noReply = "org.freedesktop.DBus.Error.NoReply"

extension IdentityError {
  static func noBroker(_ message: String) -> IdentityError {
    IdentityError(
      .noBroker, message,
      advice: "Have the machine joined to the organisation, with its broker installed, or do without one.")
  }

  /// The names of the bus's errors, besides those below, for a service that does not respond or cannot be started. Any other
  /// error is a working service's reply.
  private static let outages = [
    "Disconnected", "LimitsExceeded", "NameHasNoOwner", "NoMemory", "Spawn.", "Timeout", "TimedOut",
  ].map { "org.freedesktop.DBus.Error." + $0 }

  /// What a call on the bus ended with.
  fileprivate init(_ error: GLibError, calling method: String) {
    switch error.dbusName {
    case "org.freedesktop.DBus.Error.ServiceUnknown":
      self = .noBroker("There is no identity broker on the session bus.")
    case _ where error.isIO(G_IO_ERROR_CANCELLED):
      self = .cancelled
    case _ where error.isIO(G_IO_ERROR_TIMED_OUT):
      self = .brokerFailed("it did not respond to \(method) in time")
    case noReply:
      self = .brokerFailed("it ended, or did not respond to \(method)")
    case .some(let name):
      let text = error.message.withoutTokens.printable(limit: 500)
      let reason = "\(method) ended with \(name.printable(limit: 200)), \"\(text)\""
      self = Self.outages.contains(where: name.hasPrefix) ? .brokerFailed(reason) : .brokerRefused(reason)
    case nil where error.isIO(G_IO_ERROR_INVALID_ARGUMENT):
      // GDBus: the reply is not of the type that was asked for.
      self = .brokerFailed("its response to \(method) has the wrong type")
    case nil:
      self = .brokerFailed("\(method) failed, \"\(error.message.printable(limit: 500))\"")
    }
  }
}
