package import GLibSupport
import Glibc
package import TokenCache

/// Reads a sandboxed application's own secret from the Secret portal on the session bus.
///
/// Source: XDG Desktop Portal, `org.freedesktop.portal.Secret` version 1 and `org.freedesktop.portal.Request`. The portal
/// identifies the application by itself. All calls block.
package struct SecretPortal {
  /// A secret of fewer bytes could be guessed.
  package static let minimumSize = 32
  package static let maximumSize = 1 << 12
  /// The longest identifier of a secret, in bytes.
  package static let maximumTokenSize = 1 << 10

  private static let name = "org.freedesktop.portal.Desktop"
  fileprivate static let path = "/org/freedesktop/portal/desktop"
  fileprivate static let interface = "org.freedesktop.portal.Secret"

  private let bus: BusConnection
  /// The portal's unique name, under which no other program can reply.
  private let owner: String

  /// Connects to the portal, which the bus starts if it does not run.
  package init(busAddress: String?, _ cancellable: Cancellable) throws(CacheError) {
    let bus: BusConnection
    do throws(GLibError) {
      bus = try BusConnection(address: busAddress, cancellable)
    } catch {
      let failure = Self.failure(error, cancellable)
      throw error == .outOfDescriptors || [.timedOut, .cancelled].contains(failure.code)
        ? failure : Self.noSessionBus
    }
    let name = Variant.string(Self.name)
    do throws(GLibError) {
      if try bus.ask("NameHasOwner", [name], reply: "(b)", cancellable)?.boolean != true {
        _ = try bus.ask("StartServiceByName", [name, .uint32(0)], reply: "(u)", cancellable)
      }
      owner = try bus.ask("GetNameOwner", [name], reply: "(s)", cancellable)?.string ?? ""
      self.bus = bus
    } catch {
      let failure = Self.failure(error, cancellable)
      throw error.dbusName == nil || failure.code == .timedOut ? failure : Self.noPortal
    }
  }

  /// Checks for a backend for secrets.
  ///
  /// - Throws: ``noBackend`` if it is missing.
  package func checkBackend(_ cancellable: Cancellable) throws(CacheError) {
    do {
      _ = try bus.call(
        owner, Self.path, "org.freedesktop.DBus.Properties", "Get",
        [.string(Self.interface), .string("version")], reply: "(v)", cancellable)
    } catch {
      throw error.dbusName == "org.freedesktop.DBus.Error.InvalidArgs"
        ? Self.noBackend : Self.failure(error, cancellable)
    }
  }

  /// Requests the application's secret and waits for it until the deadline, and no longer than `timeout`.
  ///
  /// - Returns: The secret, and the token for the next request.
  package func secret(
    token: String?, within timeout: Duration, _ cancellable: Cancellable
  ) throws(CacheError) -> (secret: SecretBytes, token: String?) {
    bus.pushContext()
    defer { bus.popContext() }
    return try SecretRetrieval(bus, owner, within: timeout, cancellable).run(token: token)
  }
}

/// One request for a secret, up to the signal that ends it. It lives on one thread, in the thread's default context.
private final class SecretRetrieval {
  private let bus: BusConnection
  private let owner: String
  private let deadline: ContinuousClock.Instant
  private let cancellable: Cancellable
  /// The pipe's end from which the secret is read, and the one that the portal writes to.
  private let reading: Int32
  private let writing: Int32
  /// One byte longer than the longest secret, so that it never moves.
  private var bytes = [UInt8](repeating: 0, count: SecretPortal.maximumSize + 1)
  private var count = 0
  private var outcome: Result<[String: Variant], CacheError>?

  init(
    _ bus: BusConnection, _ owner: String, within timeout: Duration, _ cancellable: Cancellable
  ) throws(CacheError) {
    self.bus = bus
    self.owner = owner
    self.cancellable = cancellable
    deadline = .now + timeout
    guard let pipe = openPipe() else { throw SecretPortal.failure(.outOfDescriptors, cancellable) }
    (reading, writing) = pipe
    _ = fcntl(reading, F_SETFL, O_NONBLOCK)
    mlock(bytes, bytes.count)
  }

  deinit {
    wipe(&bytes)
    munlock(bytes, bytes.count)
    close(reading)
  }

  func run(token: String?) throws(CacheError) -> (secret: SecretBytes, token: String?) {
    let handleToken = "llavero\(UInt64.random(in: 0...UInt64.max))"
    let sender = bus.uniqueName.dropFirst().replacing(".", with: "_")
    let expected = "\(SecretPortal.path)/request/\(sender)/\(handleToken)"
    let signals = [
      SignalSubscription(bus, of: owner, expected, "org.freedesktop.portal.Request") {
        [weak self] name, arguments in
        if name == "Response" { self?.complete(arguments) }
      },
      SignalSubscription(bus, endOf: owner) { [weak self] in self?.finish(.failure(SecretPortal.portalGone))
      },
    ]
    defer { withExtendedLifetime(signals) {} }

    var options = ["handle_token": Variant.string(handleToken)]
    if let token { options["token"] = .string(token) }
    // Portals before 0.9, of 2017, chose the path themselves.
    guard try call(options) == expected else { throw SecretPortal.malformedResponse("RetrieveSecret") }
    bus.listen(until: { outcome != nil }, within: deadline - .now, cancellable)
    return try result()
  }

  private func call(_ options: [String: Variant]) throws(CacheError) -> String {
    // From then on only the portal holds the other end.
    defer { close(writing) }
    do {
      let answer = try bus.call(
        owner, SecretPortal.path, SecretPortal.interface, "RetrieveSecret",
        [.handle(0), .properties(options)], sending: writing, reply: "(o)", within: deadline - .now,
        cancellable)
      return answer[0].string ?? ""
    } catch {
      throw SecretPortal.failure(error, cancellable)
    }
  }

  private func result() throws(CacheError) -> (secret: SecretBytes, token: String?) {
    guard let results = try outcome?.get() else {
      if bus.isClosed { throw SecretPortal.portalGone }
      throw cancellable.isCancelled && !cancellable.isPastDeadline
        ? SecretPortal.cancelled : SecretPortal.timedOut
    }
    read()
    guard count <= SecretPortal.maximumSize else { throw SecretPortal.tooLong }
    guard count >= SecretPortal.minimumSize else {
      throw SecretPortal.tooShort(count)
    }
    let secret = bytes.withUnsafeBytes {
      SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[..<count]))
    }
    guard let value = results["token"] else { return (secret, nil) }
    guard let token = value.string, token.utf8.count <= SecretPortal.maximumTokenSize else {
      throw SecretPortal.malformedResponse("RetrieveSecret")
    }
    return (secret, token.isEmpty ? nil : token)
  }

  private func finish(_ outcome: Result<[String: Variant], CacheError>) {
    if self.outcome == nil { self.outcome = outcome }
  }

  private func complete(_ arguments: [Variant]) {
    guard arguments.count == 2, let response = arguments[0].uint32, let results = arguments[1].properties
    else { return finish(.failure(SecretPortal.malformedResponse("RetrieveSecret"))) }
    switch response {
    case 0: finish(.success(results))
    case 1: finish(.failure(SecretPortal.denied))
    default: finish(.failure(SecretPortal.failed))
    }
  }

  /// Reads the secret. The signal comes last: everything is written, and every pipe holds the longest secret.
  private func read() {
    while count < bytes.count {
      let filled = count
      let size = bytes.withUnsafeMutableBytes { buffer in
        let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
        return Glibc.read(reading, rest.baseAddress, rest.count)
      }
      guard size > 0 else { return }
      count += size
    }
  }
}

extension SecretPortal {
  /// What the error of a call on the bus means.
  fileprivate static func failure(_ error: GLibError, _ cancellable: Cancellable) -> CacheError {
    switch (error.dbusName, SecretServiceError(error, calling: "RetrieveSecret", on: .service, cancellable)) {
    case ("org.freedesktop.DBus.Error.UnknownMethod", _), ("org.freedesktop.DBus.Error.UnknownInterface", _),
      ("org.freedesktop.DBus.Error.UnknownObject", _):
      noBackend
    case ("org.freedesktop.DBus.Error.AccessDenied", _), ("org.freedesktop.portal.Error.NotAllowed", _):
      notAllowed(error.message)
    case (_, .timedOut): timedOut
    case (_, .cancelled): cancelled
    case (_, .serviceGone): portalGone
    case (_, .malformedResponse(let method)): malformedResponse(method)
    case (let name, _): refused(name ?? "\(error.domain) \(error.code)", error.message)
    }
  }

  /// In advice where no portal can help. A program that knows what other keys there are names them behind it.
  package static let otherKey = "choose another key"

  package static let noSessionBus = CacheError(
    .unavailable, "There is no D-Bus session bus, and so no Secret portal.",
    advice: "Run inside a desktop session; a sandbox must allow access to the session bus (Flatpak does).")

  /// No program on the bus provides portals, and none could be started.
  package static let noPortal = CacheError(
    .unavailable, "There is no portal on the session bus (org.freedesktop.portal.Desktop).",
    advice: "Install xdg-desktop-portal, or \(otherKey).")

  package static let noBackend = CacheError(
    .unavailable, "The desktop's portal has no backend for secrets.",
    advice:
      "Install a keyring that is a backend of the portal, such as gnome-keyring, and log in again; or \(otherKey)."
  )

  /// The user, or the desktop, denied the request.
  package static let denied = CacheError(
    .promptDismissed, "The Secret portal denied the request.",
    advice: "Try again and allow it, or \(otherKey).")

  /// The backend failed without a reason, as it does with a locked keyring.
  package static let failed = CacheError(
    .unavailable, "The Secret portal could not get this application's secret; it gave no reason.",
    advice: "Unlock the keyring (log in to the desktop, or open the keyring's program), then try again. "
      + "\"journalctl --user -u xdg-desktop-portal\" may say more.")

  /// The portal could not identify the application, or allows it no secret.
  package static func notAllowed(_ message: String) -> CacheError {
    CacheError(
      .refused, "The Secret portal does not allow this program a secret: \(message)",
      advice: "The portal identifies the program by its sandbox; check that the sandbox is intact.")
  }

  package static let timedOut = CacheError(
    .timedOut, "The Secret portal did not answer in time.",
    advice: "Check whether the desktop shows a prompt, then try again.")

  package static let cancelled = CacheError(.cancelled, "The call to the Secret portal was cancelled.")

  /// The portal, or the bus, ended before it replied.
  package static let portalGone = CacheError(
    .unavailable, "The Secret portal ended during the call.", advice: "Try again.")

  package static func tooShort(_ size: Int) -> CacheError {
    CacheError(
      .refused, "The Secret portal returned a secret of \(size) bytes; a key needs at least \(minimumSize).",
      advice: updateAdvice)
  }

  package static let tooLong = CacheError(
    .refused, "The Secret portal returned a secret of more than \(maximumSize) bytes.", advice: updateAdvice)

  /// Another D-Bus error.
  package static func refused(_ name: String, _ message: String) -> CacheError {
    CacheError(.refused, "The Secret portal refused: \(message) (\(name))")
  }

  /// A reply that violates the XDG Desktop Portal documentation.
  package static func malformedResponse(_ method: String) -> CacheError {
    CacheError(.refused, "The Secret portal's reply to \(method) is invalid.", advice: updateAdvice)
  }

  private static let updateAdvice =
    "Update the desktop's portal and its backend, or \(otherKey)."
}
