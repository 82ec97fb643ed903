import FoundationEssentials
import GLibSupport
import Glibc
import IdentityClient
import Lending
import TokenCache

/// Checks the configuration file for unknown settings, such as misspelt ones. Other commands refuse these.
struct ConfigurationCheck: Check {
  static let name = "configuration"

  func examine(_ setup: CheckedSetup) async -> [Finding] {
    Settings.current.unknown.map { [.problem($0.message, advice: $0.advice)] } ?? []
  }
}

/// Checks whether the lender responds, and what it lends. It requests no token: the lender might have to ask a person.
struct LenderCheck: Check {
  static let name = "lender"

  let lender: LoanBroker
  let address: String

  func examine(_ setup: CheckedSetup) async -> [Finding] {
    let borrowed = Finding.ok("Tokens are borrowed from \(address); no keyring and no store is used.")
    do throws(IdentityError) {
      let terms = try await lender.terms()
      let name = terms.account.username ?? terms.account.homeAccountID
      let scopes = terms.scopes.map { $0.joined(separator: " ") }.joined(separator: "; ")
      let end = "until \(terms.end.formatted(.iso8601)), \(timeLeft(until: terms.end, from: setup.now))"
      return [borrowed, .ok("The lender answers. Tokens of \(name) are lent for \(scopes), \(end).")]
    } catch {
      return [borrowed, .problem(error.message, advice: error.advice)]
    }
  }
}

/// Checks the directory of the lock files.
struct LockDirectoryCheck: Check {
  static let name = "lock_directory"

  func examine(_ setup: CheckedSetup) async -> [Finding] {
    let directory = RuntimeDirectory(environment: setup.environment)
    if let finding = Self.finding(directory.path) { return [finding] }
    let files = files(in: directory.path).compactMap(Self.finding)
    if !files.isEmpty { return files }
    do {
      guard try excludesOthers(directory.path) else {
        return [
          .problem(
            "Locks do not work in \(directory.path): two processes got the same one.", advice: Self.advice)
        ]
      }
    } catch {
      return [.problem(error, advice: Self.advice)]
    }
    if let name = FileSharing(of: directory.path).fileSystem {
      return [
        .warning(
          "Locks are in \(directory.path) on a network file system (\(name)), where no shared counter works.",
          advice: "Every read goes to the keyring. " + Self.advice)
      ]
    }
    if !directory.isShared {
      return [
        .warning(
          "Locks of other programs do not reach into this sandbox: \(directory.path) is its own.",
          advice: "Every read goes to the keyring. Let only one program at a time write to a group.")
      ]
    }
    if setup.environment["XDG_RUNTIME_DIR"] == nil && directory.path.hasPrefix("/tmp/") {
      return [
        .warning(
          "Locks are in \(directory.path), but programs with XDG_RUNTIME_DIR use another directory.",
          advice: "Give all programs the same runtime directory: see loginctl enable-linger and pam_systemd."
        )
      ]
    }
    return [.ok("Locks work in \(directory.path), which is closed to others.")]
  }

  private static let advice =
    "Use a directory of your own: export XDG_RUNTIME_DIR=/run/user/$(id -u), if it exists."

  private func files(in directory: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted()
      .filter { $0.hasSuffix(".lock") }.map { "\(directory)/\($0)" }
  }

  /// Checks the owner and the mode of the directory or a file in it.
  private static func finding(_ path: String) -> Finding? {
    .ofAccess(to: path, advice: "rm -r \(shellQuoted(path))")
  }

  /// Takes a lock, and checks that it cannot be taken a second time.
  private func excludesOthers(_ directory: String) throws(PrivateFileError) -> Bool {
    let name = "doctor.lock"
    let path = "\(directory)/\(name)"
    let held = try HeldLockFile(directory: directory, name: name)
    defer { held.release() }
    defer { unsafe unlink(path) }
    let second = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    guard second >= 0 else { throw .system(call: "open", path: path, code: errno) }
    defer { close(second) }
    return flock(second, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
  }
}

/// Checks the trusted certificates.
struct CABundleCheck: Check {
  static let name = "ca_bundle"

  private static let systemDirectory = "/etc/ssl/certs"

  func examine(_ setup: CheckedSetup) async -> [Finding] {
    let own = setup.environment["SSL_CERT_FILE"].flatMap { $0.isEmpty ? nil : $0 }
    guard let path = Settings.current.caBundle ?? own else { return [systemStore] }
    let advice = "Set LLAVERO_CA_BUNDLE to a PEM file with certificates, or unset it to trust the system's."
    do throws(Failure.Message) {
      let text = String(decoding: try InputFile.read(path), as: UTF8.self)
      guard text.contains("-----BEGIN CERTIFICATE-----") else {
        return [.problem("The CA bundle \(path) contains no certificate.", advice: advice)]
      }
      return [.ok("Only the certificates in \(path) are trusted.")]
    } catch {
      return [.problem("The CA bundle: \(error.message)", advice: advice)]
    }
  }

  private var systemStore: Finding {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: Self.systemDirectory)) ?? []
    if !files.isEmpty { return .ok("The system's certificates are trusted.") }
    return .warning(
      "No server can be trusted: \(Self.systemDirectory) contains no certificates.",
      advice: "sudo apt-get install ca-certificates")
  }
}

/// Checks whether a sign-in can open a browser.
struct BrowserCheck: Check {
  static let name = "browser"

  func examine(_ setup: CheckedSetup) async -> [Finding] {
    func has(_ variable: String) -> Bool { setup.environment[variable]?.isEmpty == false }
    if has("BROWSER") { return [.ok("Pages are opened with BROWSER.")] }
    guard has("WAYLAND_DISPLAY") || has("DISPLAY") else {
      return [.warning("No browser can be opened: there is no display.", advice: Self.advice)]
    }
    let opener = ["xdg-open", "gio"].first { programFile($0) != nil }
    guard let opener else {
      return [
        .warning("No browser can be opened: neither xdg-open nor gio is installed.", advice: Self.advice)
      ]
    }
    return [.ok("Pages are opened with \(opener).")]
  }

  private static let advice =
    "\"llavero login\" prints the address to open in a browser elsewhere; or set BROWSER."
}
