package import GLibSupport

extension SecretServiceConnection {
  /// The process that offers the service, as the bus knows it.
  package func providerProcess(_ cancellable: Cancellable) throws(SecretServiceError) -> UInt32 {
    try withSession(cancellable) { (session) throws(SecretServiceError) in
      let method = "GetConnectionUnixProcessID"
      guard let process = try session.askBus(method, [.string(session.owner)], "(u)", cancellable)?.uint32
      else { throw .malformedAnswer(method) }
      return process
    }
  }

  /// Whether somebody on the bus has this name, or can be started to have it.
  package func hasOrCanStart(
    _ name: String, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> Bool {
    try withSession(cancellable) { (session) throws(SecretServiceError) in
      let isOwned = try session.askBus("NameHasOwner", [.string(name)], "(b)", cancellable)?.boolean
      if isOwned == true { return true }
      let names = try session.askBus("ListActivatableNames", [], "(as)", cancellable)?.strings
      return names?.contains(name) ?? false
    }
  }
}

extension ServiceSession {
  /// Asks the bus itself.
  func askBus(
    _ method: String, _ arguments: [Variant], _ reply: String, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> Variant? {
    do {
      return try bus.ask(method, arguments, reply: reply, cancellable)
    } catch {
      throw SecretServiceError(error, calling: method, on: .service, cancellable)
    }
  }
}
