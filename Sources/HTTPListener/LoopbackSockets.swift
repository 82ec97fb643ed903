package import CGLib
package import GLibSupport

/// Listening sockets on 127.0.0.1 and [::1], on one port.
package struct LoopbackSockets: Sendable {
  package let port: UInt16
  package let sockets: [GObjectReference<GSocket>]

  /// Listens on the wanted port; on any free one for 0.
  package init(port wanted: UInt16) throws(GLibError) {
    GIOTypes.register()
    var attempts = wanted == 0 ? 10 : 1
    while true {
      attempts -= 1
      let first = try listen("127.0.0.1", wanted)
      let port = try localPort(first)
      do {
        sockets = [first, try listen("::1", port)]
      } catch  where error.isAddressInUse {
        // A browser that resolves localhost to ::1 would give the code to the program that listens there.
        if attempts == 0 { throw error }
        continue
      } catch {
        // There is no IPv6.
        sockets = [first]
      }
      self.port = port
      return
    }
  }
}

private func listen(_ host: String, _ port: UInt16) throws(GLibError) -> GObjectReference<GSocket> {
  do throws(GLibError) {
    guard let address = g_inet_socket_address_new_from_string(host, guint(port)) else {
      throw GLibError.unexplained
    }
    defer { g_object_unref(UnsafeMutableRawPointer(address)) }
    let new = try withGError {
      g_socket_new(g_socket_address_get_family(address), G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, $0)
    }
    guard let new else { throw GLibError.unexplained }
    let socket = GObjectReference(taking: new)
    g_socket_set_blocking(socket.pointer, 0)
    g_socket_set_listen_backlog(socket.pointer, 64)
    // SO_REUSEADDR lets a fixed port be used again right after a sign-in, while its connections are in TIME_WAIT.
    // Linux does not let two sockets listen on one address for that.
    _ = try withGError { g_socket_bind(socket.pointer, address, 1, $0) }
    _ = try withGError { g_socket_listen(socket.pointer, $0) }
    return socket
  } catch {
    let reason =
      error.isAddressInUse
      ? "is in use by another program"
      : "cannot be listened on: \(error.message)"
    throw error.saying("Port \(port) of the loopback interface \(reason).")
  }
}

private func localPort(_ socket: GObjectReference<GSocket>) throws(GLibError) -> UInt16 {
  guard let address = g_socket_get_local_address(socket.pointer, nil) else {
    throw GLibError.unexplained.saying("The port of a socket is unknown.")
  }
  let raw = UnsafeMutableRawPointer(address)
  defer { g_object_unref(raw) }
  return g_inet_socket_address_get_port(raw.assumingMemoryBound(to: GInetSocketAddress.self))
}
