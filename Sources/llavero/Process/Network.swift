import BrowserSignIn
import FoundationEssentials
import HTTPSupport
import IdentityClient
import SoupTransport
import TokenCache

extension ClientOptions {
  /// The client that gets tokens: of the lender where they are borrowed, else of the cache, the broker and the network.
  ///
  /// - Parameters:
  ///   - minimumValidity: For how many seconds a token must be good at least.
  ///   - broker: When the broker is asked.
  ///   - opened: The cache, where it is open already: nobody is asked for its passphrase twice.
  /// - Returns: The client.
  /// - Throws: `Failure.Message`.
  func tokenClient(
    minimumValidity: Double? = nil, broker: BrokerPolicy, cache opened: TokenCacheAccessor? = nil
  ) async throws(Failure.Message) -> PublicClient {
    if let lender = try cache.store.lender {
      return try await borrowingClient(of: lender, minimumValidity: minimumValidity).client
    }
    return try networkClient(minimumValidity: minimumValidity, broker: broker, cache: opened)
  }

  /// The client that these options describe, with the network and a browser.
  ///
  /// - Throws: `Failure.Message`.
  func networkClient(
    minimumValidity: Double? = nil, broker: BrokerPolicy = .off,
    cache opened: TokenCacheAccessor? = nil, browser: any WebAuthenticator = BrowserAuthenticator.here()
  ) throws(Failure.Message) -> PublicClient {
    PublicClient(
      configuration: try configuration(minimumValidity: minimumValidity, broker: broker),
      cache: opened ?? cache.cache, transport: try Network.transport(), authenticator: browser,
      broker: broker.broker)
  }
}

/// What a command gets to the network by. An interruption cancels the command from then on: a request may be under way.
enum Network {
  /// What reaches a lender's socket.
  static let lenderTransport: LenderTransport = { (path) throws(Failure.Message) in
    Interruption.beginCancelling()
    do throws(HTTPTransportError) {
      return try SoupHTTPTransport(unixSocket: path)
    } catch {
      guard case .invalidConfiguration(let reason) = error else {
        throw Failure.Message(name: "network", message: "The socket \(path) cannot be used: \(error).")
      }
      throw Failure.Message(
        code: .usage, name: "invalid_configuration",
        message: "No tokens can be borrowed from unix:\(path). \(reason)")
    }
  }

  /// What sends requests, set up as the settings say.
  ///
  /// - Parameter allowsLoopbackHTTP: Whether http goes to this machine itself, which is for etcd.
  /// - Returns: The transport.
  /// - Throws: `Failure.Message` of code `usage` for settings that make no sense.
  static func transport(allowsLoopbackHTTP: Bool = false) throws(Failure.Message) -> SoupHTTPTransport {
    Interruption.beginCancelling()
    do throws(HTTPTransportError) {
      return try SoupHTTPTransport(
        caBundle: Settings.current.caBundle, environment: ProcessInfo.processInfo.environment,
        allowsLoopbackHTTP: allowsLoopbackHTTP)
    } catch {
      guard case .invalidConfiguration(let reason) = error else {
        throw Failure.Message(name: "network", message: "The network cannot be used: \(error).")
      }
      throw Failure.Message(
        code: .usage, name: "invalid_configuration", message: reason,
        advice: "LLAVERO_CA_BUNDLE, SSL_CERT_FILE and https_proxy set up the connection.")
    }
  }
}
