import CGLib
package import GLibSupport
import Glibc

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
  package init(busAddress: String?, _ cancellable: Cancellable) throws(SecretPortalError) {
    let bus: BusConnection
    do throws(GLibError) {
      bus = try BusConnection(address: busAddress, cancellable)
    } catch {
      let failure = SecretPortalError(error, cancellable)
      throw error == .outOfDescriptors || [.timedOut, .cancelled].contains(failure) ? failure : .noSessionBus
    }
    let name = Variant.string(Self.name)
    do throws(GLibError) {
      if try bus.ask("NameHasOwner", [name], reply: "(b)", cancellable)?.boolean != true {
        _ = try bus.ask("StartServiceByName", [name, .uint32(0)], reply: "(u)", cancellable)
      }
      owner = try bus.ask("GetNameOwner", [name], reply: "(s)", cancellable)?.string ?? ""
      self.bus = bus
    } catch {
      let failure = SecretPortalError(error, cancellable)
      throw error.dbusName == nil || failure == .timedOut ? failure : .noPortal
    }
  }

  /// Checks for a backend for secrets.
  ///
  /// - Throws: ``SecretPortalError/noBackend`` if it is missing.
  package func checkBackend(_ cancellable: Cancellable) throws(SecretPortalError) {
    do {
      _ = try bus.call(
        owner, Self.path, "org.freedesktop.DBus.Properties", "Get",
        [.string(Self.interface), .string("version")], reply: "(v)", cancellable)
    } catch {
      throw error.dbusName == "org.freedesktop.DBus.Error.InvalidArgs"
        ? .noBackend : SecretPortalError(error, cancellable)
    }
  }

  /// Requests the application's secret and waits for it until the deadline, and no longer than `timeout`.
  ///
  /// - Returns: The secret, and the token for the next request.
  package func secret(
    token: String?, within timeout: Duration, _ cancellable: Cancellable
  ) throws(SecretPortalError) -> (secret: SecretBytes, token: String?) {
    try bus.withContext { () throws(SecretPortalError) in
      let retrieval = try SecretRetrieval(bus, owner, within: timeout, cancellable)
      return try retrieval.run(token: token)
    }
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
  private var writing: Int32
  /// One byte longer than the longest secret, so that it never moves.
  private var bytes = [UInt8](repeating: 0, count: SecretPortal.maximumSize + 1)
  private var count = 0
  private var outcome: Result<[String: Variant], SecretPortalError>?

  init(
    _ bus: BusConnection, _ owner: String, within timeout: Duration, _ cancellable: Cancellable
  ) throws(SecretPortalError) {
    self.bus = bus
    self.owner = owner
    self.cancellable = cancellable
    deadline = min(.now + timeout, cancellable.deadline)
    guard let pipe = openPipe() else { throw SecretPortalError(.outOfDescriptors, cancellable) }
    (reading, writing) = pipe
    _ = fcntl(reading, F_SETFL, O_NONBLOCK)
    mlock(bytes, bytes.count)
  }

  deinit {
    wipe(&bytes)
    munlock(bytes, bytes.count)
    close(reading)
    if writing >= 0 { close(writing) }
  }

  func run(token: String?) throws(SecretPortalError) -> (secret: SecretBytes, token: String?) {
    let handleToken = "llavero\(UInt64.random(in: 0...UInt64.max))"
    let sender = bus.uniqueName.dropFirst().replacing(".", with: "_")
    let expected = "\(SecretPortal.path)/request/\(sender)/\(handleToken)"
    let signals = [
      SignalSubscription(bus, of: owner, expected, "org.freedesktop.portal.Request") {
        [weak self] name, arguments in
        if name == "Response" { self?.complete(arguments) }
      },
      SignalSubscription(bus, endOf: owner) { [weak self] in self?.finish(.failure(.portalGone)) },
    ]
    let source = g_unix_fd_source_new(reading, G_IO_IN)
    g_source_set_callback(
      source, unsafeBitCast(onReadable, to: GSourceFunc.self), Unmanaged.passUnretained(self).toOpaque(), nil)
    g_source_attach(source, g_main_context_get_thread_default())
    defer {
      g_source_destroy(source)
      g_source_unref(source)
      withExtendedLifetime(signals) {}
    }

    var options = ["handle_token": Variant.string(handleToken)]
    if let token { options["token"] = .string(token) }
    // Portals before 0.9, of 2017, chose the path themselves.
    guard try call(options) == expected else { throw .malformedResponse("RetrieveSecret") }
    bus.listen(until: { outcome != nil }, within: deadline - .now, cancellable)
    return try result()
  }

  private func call(_ options: [String: Variant]) throws(SecretPortalError) -> String {
    defer {
      // From now on only the portal holds the other end.
      close(writing)
      writing = -1
    }
    do {
      let answer = try bus.call(
        owner, SecretPortal.path, SecretPortal.interface, "RetrieveSecret",
        [.handle(0), .properties(options)], sending: writing, reply: "(o)", within: deadline - .now,
        cancellable)
      return answer.first?.string ?? ""
    } catch {
      throw SecretPortalError(error, cancellable)
    }
  }

  private func result() throws(SecretPortalError) -> (secret: SecretBytes, token: String?) {
    guard let results = try outcome?.get() else {
      if bus.isClosed { throw .portalGone }
      throw cancellable.isCancelled && !cancellable.isPastDeadline ? .cancelled : .timedOut
    }
    // The signal comes last: everything is written.
    read()
    guard count <= SecretPortal.maximumSize else { throw .tooLong(limit: SecretPortal.maximumSize) }
    guard count >= SecretPortal.minimumSize else {
      throw .tooShort(size: count, minimum: SecretPortal.minimumSize)
    }
    let secret = bytes.withUnsafeBytes {
      SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[..<count]))
    }
    guard let value = results["token"] else { return (secret, nil) }
    guard let token = value.string, token.utf8.count <= SecretPortal.maximumTokenSize else {
      throw .malformedResponse("RetrieveSecret")
    }
    return (secret, token.isEmpty ? nil : token)
  }

  private func finish(_ outcome: Result<[String: Variant], SecretPortalError>) {
    if self.outcome == nil { self.outcome = outcome }
  }

  private func complete(_ arguments: [Variant]) {
    guard arguments.count == 2, let response = arguments[0].uint32, let results = arguments[1].properties
    else { return finish(.failure(.malformedResponse("RetrieveSecret"))) }
    switch response {
    case 0: finish(.success(results))
    case 1: finish(.failure(.denied))
    default: finish(.failure(.failed))
    }
  }

  /// Reads the bytes that are available.
  ///
  /// - Returns: Whether more may come.
  @discardableResult
  fileprivate func read() -> Bool {
    while count < bytes.count {
      let filled = count
      let size = bytes.withUnsafeMutableBytes { buffer in
        let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
        return Glibc.read(reading, rest.baseAddress, rest.count)
      }
      if size < 0, errno == EINTR { continue }
      guard size > 0 else { return size < 0 && errno == EAGAIN }
      count += size
    }
    finish(.failure(.tooLong(limit: SecretPortal.maximumSize)))
    return false
  }
}

private let onReadable: GUnixFDSourceFunc = { _, _, data in
  let retrieval = data.map { Unmanaged<SecretRetrieval>.fromOpaque($0).takeUnretainedValue() }
  return retrieval?.read() == true ? 1 : 0
}

extension SecretPortalError {
  /// Translates the error of a call on the bus.
  fileprivate init(_ error: GLibError, _ cancellable: Cancellable) {
    switch (error.dbusName, SecretServiceError(error, calling: "RetrieveSecret", on: .service, cancellable)) {
    case ("org.freedesktop.DBus.Error.UnknownMethod", _), ("org.freedesktop.DBus.Error.UnknownInterface", _),
      ("org.freedesktop.DBus.Error.UnknownObject", _):
      self = .noBackend
    case ("org.freedesktop.DBus.Error.AccessDenied", _), ("org.freedesktop.portal.Error.NotAllowed", _):
      self = .notAllowed(message: error.message)
    case (_, .timedOut): self = .timedOut
    case (_, .cancelled): self = .cancelled
    case (_, .serviceGone): self = .portalGone
    case (_, .malformedResponse(let method)): self = .malformedResponse(method)
    case (let name, _): self = .refused(name: name ?? "\(error.domain) \(error.code)", message: error.message)
    }
  }
}
