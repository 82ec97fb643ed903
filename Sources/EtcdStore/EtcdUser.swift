public import Sealing

/// The store's etcd user, where etcd requires one.
public struct EtcdUser: Sendable {
  public let name: String
  /// Where the password comes from.
  public let password: KeySource

  /// - Parameters:
  ///   - name: The user's name.
  ///   - password: Where the password comes from, each time that etcd wants it: a file or a systemd credential which holds
  ///     it and perhaps a line end, an item of the keyring with the attribute `etcd-user` and the user's name as its value, or a
  ///     closure, which is called once.
  public init(name: String, password: KeySource) {
    self.name = name
    self.password = password
  }
}
