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
    var sockets: [ObjectIdentifier: Socket] = [:]
  }

  package let port: UInt16
  private let target: Target
  private let listener: Socket
  private let state = Watched(State())

  package init(to target: Target) throws {
    self.target = target
    listener = Socket()
    guard let port = listener.listen() else {
      throw SetUpFailure("no port is free: \(String(cString: strerror(errno)))")
    }
    self.port = port
    let listener = listener
    // Threads of its own: Dispatch has no more than some sixty, and what is tested needs them.
    Thread.detachNewThread { [weak self] in
      while case let number = accept(listener.number, nil, nil), number >= 0 {
        let client = Socket(number)
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

  private func serve(_ client: Socket) {
    guard let (name, port) = destination(of: client) else { return }
    state.wait { !$0.isOpen || !$0.apart.contains(name) }
    let server = Socket()
    guard server.connect(to: port) else { return }
    if case .named = target { _ = client.write("HTTP/1.1 200 OK\r\n\r\n".utf8) }
    keep([client, server]) {
      Thread.detachNewThread { [self] in
        pass(from: server, to: client) { !$0.apart.contains(name) && !$0.holdsAnswers }
      }
      pass(from: client, to: server) { !$0.apart.contains(name) }
    }
  }

  private func keep(_ sockets: [Socket], during work: () -> Void) {
    state.change { state in for socket in sockets { state.sockets[ObjectIdentifier(socket)] = socket } }
    if !state.read(\.isOpen) { drop() }
    work()
    state.change { state in for socket in sockets { state.sockets[ObjectIdentifier(socket)] = nil } }
  }

  /// Passes on until one of the two ends, and ends the other.
  private func pass(from source: Socket, to sink: Socket, while mayPass: (State) -> Bool) {
    while let bytes = source.read() {
      state.wait { !$0.isOpen || mayPass($0) }
      guard sink.write(bytes) else { break }
    }
    source.shut()
    sink.shut()
  }

  private func destination(of client: Socket) -> (String, UInt16)? {
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

/// A socket of TCP, closed with its object.
private final class Socket: Sendable {
  let number: Int32

  init(_ number: Int32 = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)) {
    self.number = number
    // An accepted one is not.
    _ = fcntl(number, F_SETFD, FD_CLOEXEC)
  }

  deinit { close(number) }

  func shut() { shutdown(number, Int32(SHUT_RDWR)) }

  /// Listens at a free port, and returns it; `nil` without a free one.
  func listen() -> UInt16? {
    withAddress(of: 0) { address, size in
      guard bind(number, address, size) == 0, Glibc.listen(number, 128) == 0 else { return -1 }
      return getsockname(number, address, &size)
    }
  }

  func connect(to port: UInt16) -> Bool { withAddress(of: port) { Glibc.connect(number, $0, $1) } != nil }

  /// Calls a function with the address of a port of 127.0.0.1, and returns the port that is in it afterwards; `nil` where the
  /// function fails.
  private func withAddress(
    of port: UInt16, _ call: (UnsafeMutablePointer<sockaddr>, inout socklen_t) -> Int32
  ) -> UInt16? {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, &size) }
    }
    return status == 0 ? UInt16(bigEndian: address.sin_port) : nil
  }

  /// The next bytes; `nil` at the end.
  func read() -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 65536)
    let count = Glibc.read(number, &buffer, buffer.count)
    return count > 0 ? Array(buffer[..<count]) : nil
  }

  func write(_ bytes: some Sequence<UInt8>) -> Bool { sendAll(Array(bytes), to: number) }
}
