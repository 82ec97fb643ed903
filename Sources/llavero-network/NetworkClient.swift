import BrowserSignIn
import FoundationEssentials
import HTTPSupport
import IdentityClient
import SoupTransport
import ToolSupport

extension ClientOptions {
  /// The client that these options describe, with the network and a browser.
  ///
  /// - Throws: `Failure.Message`.
  func networkClient(
    minimumValidity: Double? = nil, broker: BrokerPolicy = .off,
    browser: any WebAuthenticator = BrowserAuthenticator.here()
  ) throws(Failure.Message) -> PublicClient {
    PublicClient(
      configuration: try configuration(minimumValidity: minimumValidity, broker: broker), cache: cache.cache,
      transport: try Network.transport(), authenticator: browser, broker: broker.broker)
  }
}

enum Network {
  /// What sends requests, set up as the settings say.
  static func transport() throws(Failure.Message) -> SoupHTTPTransport {
    do throws(HTTPTransportError) {
      return try SoupHTTPTransport(
        caBundle: Settings.current.caBundle, environment: ProcessInfo.processInfo.environment)
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
