import Dispatch
import EntraLab
public import FoundationEssentials
public import IdentityClient
public import KeyringStore
import PrivateSession
import SecretService
public import SoupTransport
import TokenCache

/// A stand-in for Entra ID and Microsoft Graph with a keyring of its own, for the tests of a package.
///
/// It listens on a free port of the loopback interface, over TLS with a certificate authority of its own. The keyring runs on
/// a private session bus. The user's own keyring, bus and files are not used. Users are `alice` and `bob` of contoso.test,
/// and `carol` with a personal account. Needs the Debian packages `dbus-daemon`, `gnome-keyring`
/// and `glib-networking`.
///
/// For example:
///
/// ```swift
/// let lab = try await LabServer.start()
/// let client = lab.client(signingInAs: "alice")
/// let result = try await client.token(for: ["User.Read"])
/// await lab.stop()
/// ```
public final class LabServer: Sendable {
  /// The client ID of an app that is registered with the lab, for public clients.
  public static let clientID = "c0000000-0000-4000-8000-000000000001"

  /// A client of the lab: the client ID, the authority, and the same authority as a known one, since no cloud of Microsoft
  /// vouches for it.
  public let configuration: ClientConfiguration
  /// The base address of the lab's Microsoft Graph, for `GraphCloud(baseURL:)`.
  public let graphURL: URL
  /// The file with the certificate of the lab's certificate authority, in PEM.
  public let caBundle: String
  /// A transport that trusts this certificate authority.
  public let transport: SoupHTTPTransport
  /// The cache in the private keyring.
  public let store: KeyringCacheStore
  /// The environment for programs that a test starts: the private bus and home directory, and the variables of the tool
  /// `llavero` for the lab. It holds nothing of the test process's environment.
  public let environment: [String: String]
  private let lab: Lab
  private let keyring: PrivateKeyring

  /// Starts a lab, a session bus and an unlocked, empty keyring.
  ///
  /// They end with ``stop()``, and at the latest with the process.
  ///
  /// - Throws: An error that names the program that did not start, such as one that is not installed.
  public static func start() async throws -> LabServer {
    guard KeyringProvider.gnomeKeyring.isInstalled else {
      throw SetUpFailure(
        "gnome-keyring-daemon is not installed", advice: "Run: sudo apt install gnome-keyring dbus-daemon")
    }
    let keyring = try await withCheckedThrowingContinuation { continuation in
      DispatchQueue(label: "llavero.lab-server").async {
        continuation.resume(with: Result { try PrivateKeyring() })
      }
    }
    let lab = try await Lab.start(directory: keyring.directory)
    do {
      return try LabServer(lab, keyring)
    } catch {
      await lab.stop()
      throw error
    }
  }

  private init(_ lab: Lab, _ keyring: PrivateKeyring) throws {
    guard let address = URL(string: lab.authority()), let graphURL = URL(string: lab.graphURL) else {
      throw SetUpFailure("the lab's address \(lab.baseURL) is no URL")
    }
    let authority = try Authority(url: address)
    configuration = ClientConfiguration(
      clientID: Self.clientID, authority: authority, knownAuthorities: [authority])
    self.graphURL = graphURL
    caBundle = lab.caBundlePath
    transport = try SoupHTTPTransport(caBundle: lab.caBundlePath, environment: [:])
    store = KeyringCacheStore(
      SecretServiceConnection(busAddress: keyring.busAddress), environment: keyring.environment)
    environment = keyring.environment.merging([
      "LLAVERO_CLIENT_ID": Self.clientID, "LLAVERO_AUTHORITY": lab.authority(),
      "LLAVERO_CA_BUNDLE": lab.caBundlePath, "LLAVERO_GRAPH_URL": lab.graphURL,
    ]) { $1 }
    self.lab = lab
    self.keyring = keyring
  }

  /// Closes all connections, ends the keyring and its bus, and removes their files. Call it once.
  public func stop() async {
    await lab.stop()
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "llavero.lab-server").async { [keyring] in
        keyring.shutdown()
        continuation.resume()
      }
    }
  }
}

/// What a test does in the place of a user or an administrator.
extension LabServer {
  /// Makes a client of the lab with the cache in the private keyring. Without a user no sign-in in a browser is possible.
  public func client(signingInAs user: String? = nil) -> PublicClient {
    PublicClient(
      configuration: configuration, cache: TokenCacheAccessor(store: store), transport: transport,
      authenticator: user.map { browser(signingInAs: $0) })
  }

  /// Returns an authenticator that signs a user in without a browser.
  public func browser(signingInAs user: String) -> any WebAuthenticator {
    let name = lab.directory.user(user)?.userPrincipalName ?? user
    return LabBrowser(userName: name, transport: transport)
  }

  /// Approves the newest pending device code.
  ///
  /// - Throws: An error if no device code is pending or the user is unknown.
  public func approveDeviceCode(as user: String) throws { try lab.approveDevice(as: user) }

  /// Ends all sessions of a user: the lab refuses the refresh tokens that it issued so far.
  public func revokeSessions(of user: String) throws { try lab.revokeSessions(of: user) }

  /// Makes the next renewals for a user fail until the user has signed in again.
  public func requireMFA(of user: String) throws { try lab.requireMFA(of: user) }

  /// Lets the next requests for tokens fail with an HTTP status, such as 503.
  public func failTokenRequests(
    _ count: Int = 1, status: Int, headers: [String: String] = [:], body: String = ""
  ) {
    lab.inject(LabFault(.token, count: count, status: status, headers: headers, body: body))
  }

  /// Lets the next requests to Microsoft Graph fail with an HTTP status, such as 429 with the header `Retry-After`.
  public func failGraphRequests(
    _ count: Int = 1, status: Int, headers: [String: String] = [:], body: String = ""
  ) {
    lab.inject(LabFault(.graph, count: count, status: status, headers: headers, body: body))
  }

  /// Sets the lifetime in seconds of access tokens and refresh tokens that the lab issues from now on; `nil` keeps it.
  public func setLifetimes(accessToken: Int? = nil, refreshToken: Int? = nil) {
    lab.configure {
      $0.tokenLifetime = accessToken ?? $0.tokenLifetime
      $0.longTokenLifetime = accessToken ?? $0.longTokenLifetime
      $0.refreshTokenLifetime = refreshToken ?? $0.refreshTokenLifetime
    }
  }

  /// Lets Microsoft Graph challenge every token that was requested without these claims; an empty request ends that.
  ///
  /// - Throws: An error for claims that JSON cannot express.
  public func demandClaims(_ claims: ClaimsRequest) throws {
    let demanded = try JSONDecoder().decode(JSON.self, from: Data(claims.json().utf8))
    lab.configure { $0.requiredClaims = demanded["access_token"]?.object ?? [:] }
  }

  /// How many requests for tokens the lab received so far.
  public var tokenRequestCount: Int { lab.requests(to: .token).count }
}
