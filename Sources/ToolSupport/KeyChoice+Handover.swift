import Glibc
import GLibSupport
import SecretService
import Synchronization

extension KeyChoice {
  /// The passphrase that this process was given.
  private static let given = Mutex<SecretBytes?>(nil)

  static func keep(_ secret: SecretBytes) -> SecretBytes {
    given.withLock { $0 = secret }
    return secret
  }

  /// The descriptor that it is read from, if it is read from one.
  var descriptor: Int32? { if case .passphraseDescriptor(let descriptor) = self { descriptor } else { nil } }

  /// Hands the passphrase that this process was given to the program that takes over by an exec, which would have
  /// to ask the person again, or would find a pipe empty. It goes through a pipe; arguments and environment only
  /// get its number.
  ///
  /// - Returns: The descriptor that the program needs, if it needs one.
  func handOver() -> Int32? {
    guard let secret = Self.given.withLock({ $0 }) else {
      return descriptor
    }
    var bytes = unsafe secret.withUnsafeBytes { unsafe Array($0) }
    defer { wipe(&bytes) }
    guard let end = Terminal.pipe(holding: bytes) else { return nil }
    let choice = "passphrase-fd:\(end)"
    unsafe setenv("LLAVERO_KEY", choice, 1)
    // The command line goes before the environment.
    let (count, arguments) = unsafe (Int(CommandLine.argc), CommandLine.unsafeArgv)
    for index in 1..<count {
      guard let argument = unsafe arguments[index].map({ unsafe String(cString: $0) }) else { continue }
      if argument == "--key", index + 1 < count { unsafe arguments[index + 1] = strdup(choice) }
      if argument.hasPrefix("--key=") { unsafe arguments[index] = strdup("--key=" + choice) }
    }
    return end
  }
}
