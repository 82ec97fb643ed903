import BrowserSignIn
import FoundationEssentials
import GLibSupport
import Glibc
import HTTPSupport
import IdentityClient
import Lending
import MSALExtensionsStore
import SecretService
import SoupTransport
import TokenCache

extension Check {
  /// Shows what is set where, and checks for unknown settings, such as misspelt ones. Other commands refuse these.
  static let configuration = Check(name: "configuration") { _ in
    let settings = try Settings.loaded.get()
    let places = Dictionary(grouping: settings.values) { value in
      settings.origin(of: value.setting).map { $0.isVariable ? "The environment" : $0.name } ?? ""
    }
    let set = places.sorted { $0.key < $1.key }.flatMap { place, values in
      let lines = values.map { "\($0.setting.name) = \($0.text)" }
      return [Finding].ok("\(place) sets \(lines.joined(separator: ", ")).")
    }
    return set + (settings.unknown.map { .problem($0.message, advice: $0.advice) } ?? [])
  }

  /// Checks whether the lender responds, and what it lends. It requests no token: the lender might have to ask a person.
  static func lender(_ lender: LoanBroker, at address: String) -> Check {
    Check(name: "lender") { setup in
      let borrowed: [Finding] = .ok("Tokens are borrowed from \(address); no keyring and no store is used.")
      do throws(IdentityError) {
        let terms = try await lender.terms()
        let name = terms.account.username ?? terms.account.homeAccountID
        let scopes = terms.scopes.map { $0.joined(separator: " ") }.joined(separator: "; ")
        let left = TimeLeft(until: terms.end, at: setup.now).abbreviation
        let end = "until \(terms.end.formatted(.iso8601)), \(left)"
        return borrowed + .ok("The lender answers. Tokens of \(name) are lent for \(scopes), \(end).")
      } catch {
        return borrowed + .problem(error)
      }
    }
  }

  static let lockDirectory = Check(name: "lock_directory") { setup in
    if let missing = RuntimeDirectory.missing(setup.environment) {
      return .problem(SecretServiceError.noRuntimeDirectory(missing))
    }
    let directory = RuntimeDirectory(environment: setup.environment)
    let path = directory.path
    let ownDirectory =
      "Use a directory of your own: export XDG_RUNTIME_DIR=/run/user/$(id -u), if it exists."
    let names = ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    for paths in [[path], names.filter { $0.hasSuffix(".lock") }.map { "\(path)/\($0)" }] {
      let findings = paths.flatMap { [Finding].ofAccess(to: $0, advice: "rm -r \(shellQuoted($0))") }
      if !findings.isEmpty { return findings }
    }
    do {
      guard try excludesOthers(path) else {
        return .problem(
          "Locks do not work in \(path): two processes got the same one.", advice: ownDirectory)
      }
    } catch {
      return .problem(error, advice: ownDirectory)
    }
    if let name = FileSharing(of: path).fileSystem {
      return .warning(
        "Locks are in \(path) on a network file system (\(name)), where no shared counter works.",
        advice: "Every read goes to the keyring. " + ownDirectory)
    }
    if !directory.isShared {
      return .warning(
        "Locks of other programs do not reach into this sandbox: \(path) is its own.",
        advice: "Every read goes to the keyring. Let only one program at a time write to a group.")
    }
    if let login = directory.ofOtherLogins() {
      return .warning(
        "Locks are in \(path), but programs of a login use \(login)/llavero.",
        advice: "Give all programs the same runtime directory: export XDG_RUNTIME_DIR=\(login)")
    }
    if setup.environment["XDG_RUNTIME_DIR"] == nil && path.hasPrefix("/tmp/") {
      return .warning(
        "Locks are in \(path), but programs with XDG_RUNTIME_DIR use another directory.",
        advice: "Give all programs the same runtime directory: see loginctl enable-linger and pam_systemd.")
    }
    return .ok("Locks work in \(path), which is closed to others.")
  }

  /// Takes a lock, and checks that it cannot be taken a second time.
  private static func excludesOthers(_ directory: String) throws(PrivateFileError) -> Bool {
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

  static let caBundle = Check(name: "ca_bundle") { setup in
    let own = setup.environment["SSL_CERT_FILE"].flatMap { $0.isEmpty ? nil : $0 }
    guard let path = Settings.current.caBundle ?? own else {
      let system = "/etc/ssl/certs"
      let files = (try? FileManager.default.contentsOfDirectory(atPath: system)) ?? []
      if !files.isEmpty { return .ok("The system's certificates are trusted.") }
      return .warning(
        "No server can be trusted: \(system) contains no certificates.",
        advice: "sudo apt-get install ca-certificates")
    }
    let variable = Settings.current.caBundle == nil ? "SSL_CERT_FILE" : Setting.caBundle.variable
    return trust(in: path, variable: variable, otherwise: "the system's")
  }

  static let etcdCA = Check(name: "etcd_ca") { setup in
    let settings = setup.options.settings
    guard settings.kind == .etcd, let path = settings.etcdCA else { return [] }
    return trust(
      in: path, for: " for etcd", variable: Setting.etcdCA.variable, otherwise: "those of other connections")
  }

  /// Loads a file of certificates as a connection does.
  private static func trust(
    in path: String, for purpose: String = "", variable: String, otherwise others: String
  ) -> [Finding] {
    do throws(HTTPTransportError) {
      _ = try SoupHTTPTransport(caBundle: path, environment: [:])
      return .ok("Only the certificates in \(path) are trusted\(purpose).")
    } catch {
      return .problem(
        error,
        advice: "Set \(variable) to a PEM file with certificates, or unset it to trust \(others).")
    }
  }

  /// Checks whether a sign-in can open a browser, by the commands that it tries.
  static let browser = Check(name: "browser") { setup in
    let browser = SystemBrowser(environment: setup.environment)
    if let program = browser.program { return .ok("Pages are opened with \(program).") }
    guard browser.isAvailable else {
      return .ok("There is no display. \"llavero login\" prints the address to open in a browser elsewhere.")
    }
    return .warning(
      "No browser can be opened: no program such as xdg-open or gio is installed.",
      advice: "\"llavero login\" prints the address to open in a browser elsewhere; or set BROWSER.")
  }

  /// Checks the token caches of other programs for plaintext and for what their faults left behind.
  static let otherCaches = Check(name: "sources") { setup in
    let caches = await OtherCaches.inspect(setup.options, timeout: .seconds(10))
    let findings =
      caches.entries.flatMap { entry in
        entry.findings.flatMap { finding($0, of: entry.report.peer, setup) }
      } + caches.unreadable.flatMap { [Finding].warning($0.message, advice: $0.advice) }
    if !findings.isEmpty { return findings }
    // The checks of the keyring say why it cannot be read.
    return .ok(
      caches.keyringError == nil
        ? "No cache of another program has plaintext tokens or other faults."
        : "No file has plaintext tokens. Caches of other programs in the keyring could not be read.")
  }

  private static func finding(
    _ finding: PeerFinding, of peer: PeerCache, _ setup: CheckedSetup
  ) -> [Finding] {
    let message = finding.path == nil ? "\(peer.name): \(finding.detail)" : finding.detail
    switch finding.kind {
    case .plaintext:
      return .warning(message, advice: "Move them: " + setup.options.command(["adopt", peer.name]))
    case .readableByOthers: return .fixable(.problem, message) { try await finding.fix() }
    case .staleLock: return .fixable(.warning, message) { try await finding.fix() }
    case .orphanedRefreshTokens:
      return .warning(
        message, advice: "List them: " + setup.options.command(["import", peer.name, "--dry-run"]))
    case .duplicates, .copies: return .warning(message, advice: "They do no harm; \(peer.users) wrote them.")
    case .plaintextSecrets, .damaged:
      return .warning(message, advice: peer.removalAdvice ?? "Sign in again with \(peer.users).")
    }
  }
}
