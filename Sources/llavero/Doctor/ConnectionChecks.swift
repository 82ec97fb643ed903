import FoundationEssentials
import GLibSupport
import HTTPSupport
import HTTPTypes
import IdentityClient
import Synchronization
import TokenCache

extension Check {
  /// Asks the authority of the configured client for its metadata, as a sign-in does: through the proxy, with the trusted
  /// certificates. Its response has the time. Without a client ID no server is asked.
  static func authority(_ configured: Token?, offline: Bool) -> Check {
    Check(name: "authority") { _ in
      guard let configured, let id = try? configured.clientID else {
        return .ok("No client ID is set, so no authority is asked.")
      }
      let authority = try configured.namedAuthority
      var findings = [Finding].ok("The client ID is \(id), the authority \(authority).")
      if authority.kind == .aad, UUID(uuidString: id) == nil {
        findings += .warning(
          "The client ID is not in the form that Entra ID gives to apps.",
          advice:
            "Copy \"Application (client) ID\" from the app registration: llavero setup --client YOUR-APP-ID")
      }
      guard !offline else { return findings }
      var configuration = ClientConfiguration(clientID: id, authority: authority)
      configuration.knownAuthorities = [authority]
      configuration.httpTimeout = .seconds(10)
      let transport = TimedTransport(transport: try Network.transport())
      let client = PublicClient(
        configuration: configuration,
        cache: TokenCacheAccessor(store: InMemoryStore(), group: configured.group), transport: transport,
        logger: DiagnosticLog.logger)
      do throws(IdentityError) {
        try await client.checkAuthority()
        findings += .ok("The authority responds.")
      } catch {
        findings += .problem(error)
      }
      return findings + transport.findings
    }
  }

  /// Shows what git, az, azd and kubectl take credentials from. None of them is asked for one.
  static let otherPrograms = Check(name: "other_programs") { _ in
    let late = GLibError.unexplained
    let uses = try await BlockingQueue(label: "llavero.programs").run(
      timeout: .seconds(10), onCancel: late, onTimeout: late
    ) { (cancellable) throws(GLibError) in CredentialSource.all(cancellable) }
    guard !uses.isEmpty else { return .ok("None of git, az, azd and kubectl is installed.") }
    return .ok("Other programs take credentials from: \(uses.joined(separator: ", ")).")
  }
}

/// Compares the clock with that of the server.
private final class TimedTransport: HTTPTransport {
  private let transport: any HTTPTransport
  /// How much this machine's clock is ahead, in seconds.
  private let lead = Mutex<Double?>(nil)

  init(transport: any HTTPTransport) { self.transport = transport }

  func send(_ request: HTTPTransportRequest) async throws(HTTPTransportError) -> HTTPTransportResponse {
    let response = try await transport.send(request)
    let date = response.head.headerFields[.date].flatMap(HTTPDate.parse)
    lead.withLock { $0 = date.map { Date().timeIntervalSince($0) } ?? $0 }
    return response
  }

  var findings: [Finding] {
    guard let lead = lead.withLock(\.self) else { return [] }
    guard abs(lead) > 300 else { return .ok("The clock agrees with the authority's.") }
    return .problem(
      "The clock is \(Int(abs(lead))) seconds \(lead > 0 ? "ahead of" : "behind") the authority's.",
      advice: "Set it: sudo timedatectl set-ntp true")
  }
}

/// What other programs take credentials from.
private enum CredentialSource {
  /// One text for each program that is installed.
  static func all(_ cancellable: Cancellable) -> [String] {
    func output(_ command: String...) -> String? {
      guard programFile(command[0]) != nil else { return nil }
      return (try? outputOfCommand(command, cancellable).trimmed) ?? ""
    }
    let git = output("git", "config", "--get-urlmatch", "credential.helper", "https://dev.azure.com").map {
      "git: " + ($0.isEmpty ? "no credential helper" : name(ofHelper: $0))
    }
    let shims = ShimProgram.allCases.compactMap { program in
      programFile(program.rawValue).map { path in
        "\(program.rawValue): \(path)" + (program.isStandIn(path) ? ", a stand-in by llavero" : "")
      }
    }
    let plugin = "jsonpath={.users[*].user.exec.command}"
    let kubectl = output("kubectl", "config", "view", "--minify", "-o", plugin).map {
      "kubectl: " + ($0.isEmpty ? "no credential plugin" : $0)
    }
    return [git].compactMap(\.self) + shims + [kubectl].compactMap(\.self)
  }

  /// The program and the command of a credential helper. Its options and a shell script may have a secret.
  private static func name(ofHelper helper: String) -> String {
    let words = helper.drop { $0 == "!" }.split(separator: " ").prefix(2).prefix { word in
      !word.hasPrefix("-") && word.allSatisfy { $0.isLetter || $0.isNumber || "/._-".contains($0) }
    }
    return words.isEmpty ? "a shell script" : words.joined(separator: " ")
  }
}
