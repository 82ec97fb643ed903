import Foundation
import Glibc

/// A network between two programs of this machine, at a free port of 127.0.0.1: it forwards what one sends to the other,
/// unless told otherwise.
package final class Relay: Sendable {
  /// A port of 127.0.0.1.
  package enum Target: Sendable {
    case port(UInt16)
    /// That of the host that the client names: it uses this as a proxy with HTTP's method CONNECT.
    case named([String: UInt16])
  }

  private struct State: Sendable {
    var isOpen = true
    /// Hosts that are cut off.
    var apart: Set<String> = []
    var holdsAnswers = false
    var sockets: [ObjectIdentifier: RawClient] = [:]
  }

  package let port: UInt16
  private let target: Target
  private let listener: RawClient
  private let state = Watched(State())

  package init(to target: Target) throws {
    self.target = target
    guard let (descriptor, port) = bindToFreePort(AF_INET, ofLoopback: true), listen(descriptor, 128) == 0
    else {
      throw SetUpFailure("no port is free: \(String(cString: strerror(errno)))")
    }
    self.port = port
    let listener = RawClient(taking: descriptor)
    self.listener = listener
    // Threads of its own: Dispatch has no more than some sixty, and what is tested needs them.
    Thread.detachNewThread { [weak self] in
      while case let number = accept(listener.descriptor, nil, nil), number >= 0 {
        let client = RawClient(taking: number)
        guard let self else { return }
        Thread.detachNewThread { self.serve(client) }
      }
    }
  }

  deinit { listener.shut() }

  /// Closes all connections, and accepts no more.
  package func close() {
    state.change { $0.isOpen = false }
    listener.shut()
    drop()
  }

  /// Closes all connections.
  package func drop() { state.read(\.sockets).values.forEach { $0.shut() } }

  /// Holds back what is sent to some hosts, and their responses, until told otherwise, as a broken network does.
  package func part(from names: Set<String>) { state.change { $0.apart = names } }

  /// Holds back responses until told otherwise.
  package func holdAnswers(_ holds: Bool) { state.change { $0.holdsAnswers = holds } }

  private func serve(_ client: RawClient) {
    guard let (name, port) = destination(of: client) else { return }
    state.wait { !$0.isOpen || !$0.apart.contains(name) }
    guard let server = RawClient(port) else { return }
    if case .named = target { client.write("HTTP/1.1 200 OK\r\n\r\n") }
    keep([client, server]) {
      Thread.detachNewThread { [self] in
        pass(from: server, to: client) { !$0.apart.contains(name) && !$0.holdsAnswers }
      }
      pass(from: client, to: server) { !$0.apart.contains(name) }
    }
  }

  private func keep(_ sockets: [RawClient], during work: () -> Void) {
    state.change { state in for socket in sockets { state.sockets[ObjectIdentifier(socket)] = socket } }
    if !state.read(\.isOpen) { drop() }
    work()
    state.change { state in for socket in sockets { state.sockets[ObjectIdentifier(socket)] = nil } }
  }

  /// Passes on until one of the two ends, and ends the other.
  private func pass(from source: RawClient, to sink: RawClient, while mayPass: (State) -> Bool) {
    while let bytes = source.read() {
      state.wait { !$0.isOpen || mayPass($0) }
      guard sink.write(bytes) else { break }
    }
    source.shut()
    sink.shut()
  }

  private func destination(of client: RawClient) -> (String, UInt16)? {
    switch target {
    case .port(let port): return ("", port)
    case .named(let ports):
      // A client sends nothing more before the response.
      guard let head = client.read() else { return nil }
      let words = String(decoding: head, as: UTF8.self).split(separator: " ")
      guard words.count > 1, let name = words[1].split(separator: ":").first.map(String.init) else {
        return nil
      }
      return ports[name].map { (name, $0) }
    }
  }
}
