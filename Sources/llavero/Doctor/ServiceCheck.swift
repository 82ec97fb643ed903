import FoundationEssentials
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
      return [.ok("\(name) offers the Secret Service (process \(provider.process)).")]
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
      "sudo apt-get install libqca-qt5-2-plugins, and log in again"
    default: nil
    }
  }
}

/// The program that offers the Secret Service.
struct Provider: Sendable {
  let process: UInt32
  /// What it was started as: a path where the system tells.
  private let program: String?

  init(_ client: SecretServiceClient) async throws(SecretServiceError) {
    process = try await client.perform { (connection, cancellable) throws(SecretServiceError) in
      try connection.retryingOnce { () throws(SecretServiceError) in
        try connection.providerProcess(cancellable)
      }
    }
    program = Self.program(of: process)
  }

  /// The program's name without its directory.
  var name: String { program?.split(separator: "/").last.map(String.init) ?? "An unknown program" }

  /// Whether it is GNOME's, which asks for passwords through a prompter of its own.
  var isGnomeKeyring: Bool { name == "gnome-keyring-daemon" }

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

  private static func program(of process: UInt32) -> String? {
    let directory = "/proc/\(process)/"
    // The link cannot be read where the program has capabilities of its own.
    if let path = try? FileManager.default.destinationOfSymbolicLink(atPath: directory + "exe") {
      return path
    }
    let arguments = try? Data(contentsOf: URL(filePath: directory + "cmdline"))
    return arguments?.split(separator: 0).first.map { String(decoding: $0, as: UTF8.self) }
  }
}
