import GLibSupport
import SecretService

/// Who offers the Secret Service.
struct ServiceCheck: Check {
  static let name = "secret_service"

  func examine(_ patient: Patient) async -> [Finding] {
    do throws(SecretServiceError) {
      let provider = try await Provider(patient.client)
      let version = await provider.version()
      let name = [provider.name, version].compactMap { $0 }.joined(separator: " ")
      return [.ok("\(name) offers the Secret Service (process \(provider.process)).")] + provider.cautions
    } catch {
      return [.problem(error, advice: Self.advice(error))]
    }
  }

  private static func advice(_ error: SecretServiceError) -> String? {
    switch error {
    case .noSecretService:
      "Install one and log in again, for example: sudo apt-get install gnome-keyring. "
        + Failure.Message.setupAdvice
    // KWallet encrypts by a plugin that Debian does not install with it.
    case .refused(_, let message) where message.contains("libqca-ossl"):
      "sudo apt-get install \(programFile("kwalletd6") == nil ? "libqca-qt5-2-plugins" : "libqca-qt6-plugins"), and "
        + "log in again"
    default: nil
    }
  }
}

extension Provider {
  init(_ client: SecretServiceClient) async throws(SecretServiceError) {
    self = try await client.perform { (connection, cancellable) throws(SecretServiceError) in
      try connection.retryingOnce { () throws(SecretServiceError) in try connection.provider(cancellable) }
    }
  }

  /// What it does otherwise than one expects of a keyring.
  fileprivate var cautions: [Finding] {
    switch name {
    case "kwalletd5", "kwalletd6", "ksecretd":
      [
        .warning(
          "KWallet writes to its file after five seconds without a change: what is saved is lost when it is killed before.",
          advice: "Log out, or close the wallet, before the machine is switched off: both make it write.")
      ]
    case "keepassxc":
      [
        .warning(
          "KeePassXC can crash when programs write at once while it saves after each change.",
          advice: "Where several do, turn off AutoSaveAfterEveryChange (Settings, General, File Management).")
      ]
    default: []
    }
  }

  /// How to unlock it, or to make its first collection, where it cannot ask.
  var unlocking: String {
    guard isGnomeKeyring else { return "Open it with the keyring's own program, or at login by PAM." }
    return #"(read -rsp "Password: " p; printf %s "$p") | gnome-keyring-daemon --replace --unlock"#
  }

  /// What the system's own program of this kind says its version is. The program that has the service's name is never
  /// started: it may be anybody's.
  func version() async -> String? {
    // Some programs hide their file, and say the name that they were started by.
    let path = program.map { $0.contains("/") ? $0 : "/usr/bin/" + $0 }
    guard let path, ["/usr/bin/gnome-keyring-daemon", "/usr/bin/keepassxc"].contains(path) else { return nil }
    let queue = BlockingQueue(label: "llavero.doctor")
    let answer = try? await queue.run(
      timeout: .seconds(5), onCancel: GLibError.unexplained, onTimeout: GLibError.unexplained
    ) { (cancellable) throws(GLibError) in
      // Qt programs want a display even for this.
      try outputOfCommand(
        [path, "--version"], variables: ["QT_QPA_PLATFORM": "offscreen"], cancellable)
    }
    let words = answer?.split(whereSeparator: \.isWhitespace) ?? []
    return words.first { $0.first?.isNumber == true }.map(String.init)
  }
}
