package import GLibSupport

/// A client of the Secret Service, the D-Bus API of gnome-keyring, KWallet, KeePassXC and others.
///
/// It has a bus connection of its own and an encrypted session, both opened when first needed. The blocking
/// calls run on a thread of their own, never on Swift's cooperative pool; when the task is cancelled or the
/// timeout passes, the caller resumes at once. A write that was given up may have been carried out all the same.
///
/// No call prompts unless the caller allows it.
package final class SecretServiceClient: Sendable {
  /// The largest secret that is sent, in bytes: 32 MiB. D-Bus closes the connection over a message of 128 MiB.
  package static let maximumSecretSize = 32 << 20

  /// How long a call may take.
  package let timeout: Duration

  private let connection: SecretServiceConnection
  private let queue = BlockingQueue(label: "llavero.secret-service")
  /// A prompt may take minutes; other calls do not wait for it.
  private let promptQueue = BlockingQueue(label: "llavero.secret-service.prompts")

  /// - Parameters:
  ///   - busAddress: The D-Bus address of the bus to use; nil is the session bus.
  ///   - timeout: How long a call may take, connecting included.
  ///   - allowsPlainSession: Whether secrets may cross the bus as plaintext if the service refuses to encrypt them.
  ///     Otherwise every call fails with ``SecretServiceError/encryptionRefused`` then.
  package init(busAddress: String? = nil, timeout: Duration = .seconds(25), allowsPlainSession: Bool = false)
  {
    connection = SecretServiceConnection(busAddress: busAddress, allowsPlainSession: allowsPlainSession)
    self.timeout = timeout
  }

  /// Runs several blocking calls as one, within the time for a prompt, `timeout` or the client's own, on the client's thread.
  package func perform<T: Sendable>(
    _ prompt: PromptPermission = .denied, timeout: Duration? = nil,
    _ work: @escaping @Sendable (SecretServiceConnection, Cancellable) throws(SecretServiceError) -> T
  ) async throws(SecretServiceError) -> T {
    try await (prompt == .denied ? queue : promptQueue).run(
      timeout: prompt.timeout ?? timeout ?? self.timeout, onCancel: .cancelled, onTimeout: .timedOut
    ) { [connection] (cancellable) throws(SecretServiceError) in
      try work(connection, cancellable)
    }
  }
}

/// Whether the service may ask the user, for example for the keyring's password.
public enum PromptPermission: Hashable, Sendable {
  case denied
  /// The user has this long to answer: by default long enough to find a password, short enough not to hang a forgotten terminal
  /// for ever. A prompt that is not answered by then stays open, but the call fails.
  case allowed(waitingUpTo: Duration = .seconds(120))

  package var timeout: Duration? {
    if case .allowed(let timeout) = self { timeout } else { nil }
  }
}
