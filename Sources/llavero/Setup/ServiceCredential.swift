import FoundationEssentials
import GLibSupport
import Glibc

/// A key that systemd decrypts for a service alone (systemd.exec(5), `LoadCredentialEncrypted=`), and the file that holds
/// it encrypted for this machine.
struct ServiceCredential {
  /// Where systemd itself looks for encrypted credentials.
  static let directory = "/etc/credstore.encrypted"

  let name: String
  let path: String

  /// - Throws: `Failure` of code `usage` for a name that would be another thing in the unit.
  init(name: String, path: String?) throws(Failure) {
    let isPlain = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
    guard isPlain, !name.hasPrefix(".") else {
      throw Failure(
        "invalid_name", "Invalid credential name \"\(name)\".", code: .usage,
        advice: "Use letters, digits, \"-\", \"_\" and \".\".")
    }
    self.name = name
    self.path = path ?? "\(Self.directory)/\(name)"
  }

  /// Whether systemd has given this process a credential.
  static func isGiven(_ name: String) -> Bool {
    guard let directory = processEnvironment()["CREDENTIALS_DIRECTORY"] else { return false }
    return FileManager.default.fileExists(atPath: "\(directory)/\(name)")
  }

  var isMade: Bool { FileManager.default.fileExists(atPath: path) }

  /// Makes a key, has it encrypted, and writes that. The key itself is in no file: it is sent through a pipe. Returns what
  /// systemd-creds printed on standard error.
  func make() async throws(Failure) -> [String] {
    guard let program = programFile("systemd-creds") else {
      throw Failure(
        "no_systemd_creds", "systemd-creds, which encrypts credentials, is not installed.",
        advice: "It comes with systemd 250 and later. Without it use a key file: --key file:PATH")
    }
    let late = failure("it timed out")
    return try await BlockingQueue(label: "llavero.credential").run(
      timeout: .seconds(120), onCancel: late, onTimeout: late
    ) { (cancellable) throws(Failure) in try make(by: program, cancellable) }
  }

  private func make(by program: String, _ cancellable: Cancellable) throws(Failure) -> [String] {
    guard let input = openPipe() else { throw failure(systemReason()) }
    defer { close(input.reading) }
    var key = randomBytes(32)
    defer { wipe(&key) }
    // A pipe holds as much without a reader.
    let isWritten = writeAll(key.span, to: input.writing)
    close(input.writing)
    guard isWritten, let errors = openPipe() else { throw failure(systemReason()) }
    defer { close(errors.reading) }
    let encrypted = try? outputOfCommand(
      // Bound to the TPM alone: PCR 7, systemd's default before 258, changes with each update of Secure Boot.
      [program, "encrypt", "--name=\(name)", "--tpm2-pcrs=", "-", "-"], input: input.reading,
      errors: errors.writing,
      cancellable)
    close(errors.writing)
    // A process that it started could keep the other end.
    _ = fcntl(errors.reading, F_SETFL, O_NONBLOCK)
    let said = String(decoding: readAll(errors.reading, limit: 1 << 16) ?? [], as: UTF8.self)
    let lines = said.split(separator: "\n")
    guard let encrypted, !encrypted.isEmpty else { throw failure(lines.joined(separator: "; ")) }
    try writeKeyFile(Array(encrypted.utf8).span, to: path)
    return lines.map { "systemd-creds: \($0)" }
  }

  private func failure(_ reason: String) -> Failure {
    Failure(
      "not_encrypted",
      "systemd-creds did not encrypt the credential \(name): "
        + (reason.isEmpty ? "no reason given" : reason),
      advice: geteuid() == 0
        ? "It needs a TPM, or /var/lib/systemd on a disk. Without either use a key file: --key file:PATH"
        : "Its encryption key belongs to root: run this command with sudo.")
  }

  /// What a key for several machines needs.
  var copying: String {
    let (name, path) = (shellQuoted(name), shellQuoted(path))
    return """
      Each machine needs this key, and none of its own. Copy it as root: systemd-creds decrypt --name=\(name) \(path) - \
      | ssh HOST systemd-creds encrypt --name=\(name) --tpm2-pcrs= - \(path)
      """
  }

  /// The lines of a service's unit: the credentials, and the settings, since a service has no configuration. If it has files
  /// in the store's default directory, the service gets one of its own.
  func unit(settings: [(setting: Setting, text: String)], hasFiles: Bool) -> [String] {
    var variables = settings.map { ($0.setting.variable, $0.text) }
    if hasFiles { variables.append(("XDG_DATA_HOME", "/var/lib/\(name)")) }
    let others = Set(settings.map(\.text).filter { $0.hasPrefix("credential:") }.map { $0.dropFirst(11) })
    let files = [(name, path)] + others.filter { $0 != name }.map { (String($0), "\(Self.directory)/\($0)") }
    return ["[Service]"]
      + files.map { "LoadCredentialEncrypted=\($0):\($1)".replacing("%", with: "%%") }
      + (hasFiles ? ["StateDirectory=\(name)"] : [])
      + variables.map { "Environment=" + Self.quoted("\($0)=\($1)") }
  }

  /// A word as a unit takes it (systemd.syntax(7)), with no specifiers in it (systemd.unit(5)).
  private static func quoted(_ word: String) -> String {
    let escapes = [("\\", "\\\\"), ("\"", "\\\""), ("\n", "\\n"), ("%", "%%")]
    return "\"" + escapes.reduce(word) { $0.replacing($1.0, with: $1.1) } + "\""
  }
}
