import Foundation
import HTTPSupport
import HTTPTypes
import HTTPTypesFoundation
import MSAL
import SoupTransport

/// Calls Microsoft Graph for the signed-in account, and shows what the library logs.
@main
@MainActor
struct GraphApp {
  let scopes = ["User.Read"]
  let application: MSALPublicClientApplication
  let transport: any HTTPTransport
  let me: URL
  let screen: Screen

  static func main() async {
    let screen = Screen(prompt: "[c] call Graph  [d] use a code  [s] sign out  [x] cancel  [q] quit > ")
    // The third argument is whether a message may contain personal data. Such messages are not shown.
    MSALGlobalConfig.loggerConfig.logLevel = .verbose
    MSALGlobalConfig.loggerConfig.logMaskingLevel = .settingsMaskAllPII
    MSALGlobalConfig.loggerConfig.setLogCallback { (logLevel, message, containsPII) in
      if let message, !containsPII { screen.show("  MSAL: \(message)") }
    }
    do {
      let app = try GraphApp(screen: screen, environment: ProcessInfo.processInfo.environment)
      let cancel: @Sendable () -> Void = { MSALPublicClientApplication.cancelCurrentWebAuthSession() }
      for await line in screen.lines(onCancel: cancel) {
        guard await app.obey(line) else { break }
      }
    } catch {
      FileHandle.standardError.write(Data((text(of: error) + "\n").utf8))
      exit(1)
    }
  }

  private static func text(of error: any Error) -> String {
    error is HTTPTransportError ? "The request failed: \(error)" : (error as NSError).localizedDescription
  }

  init(screen: Screen, environment: [String: String]) throws {
    let address = environment["LLAVERO_AUTHORITY"] ?? "https://login.microsoftonline.com/common"
    let graph = environment["LLAVERO_GRAPH_URL"] ?? "https://graph.microsoft.com/v1.0"
    guard let clientId = environment["LLAVERO_CLIENT_ID"], let authorityURL = URL(string: address),
      let graphURL = URL(string: graph)
    else {
      let advice = "Set LLAVERO_CLIENT_ID; LLAVERO_AUTHORITY and LLAVERO_GRAPH_URL are addresses, if set."
      throw NSError(domain: "GraphApp", code: 2, userInfo: [NSLocalizedDescriptionKey: advice])
    }
    let authority = try MSALAADAuthority(url: authorityURL)
    let configuration = MSALPublicClientApplicationConfig(
      clientId: clientId, redirectUri: nil, authority: authority)
    configuration.cacheConfig.keychainSharingGroup = environment["LLAVERO_GROUP"] ?? "com.example.office"
    if environment["LLAVERO_AUTHORITY"] != nil {
      // An authority outside Microsoft's clouds is trusted only if the configuration names it.
      configuration.knownAuthorities = [authority]
    }
    application = try MSALPublicClientApplication(configuration: configuration)
    transport = try SoupHTTPTransport(environment: environment)
    me = graphURL.appending(path: "me")
    self.screen = screen
  }

  /// - Returns: Whether the program continues.
  func obey(_ line: String) async -> Bool {
    do {
      switch line {
      case "c": try await callGraph(with: token())
      case "d": try await callGraph(with: acquireTokenByDeviceCode())
      case "s": try signOut()
      case "q": return false
      default: screen.show("Type one of the letters, and Enter.")
      }
    } catch {
      screen.show(Self.text(of: error))
    }
    return true
  }

  /// Returns a token of the signed-in account, silently if possible.
  func token() async throws -> MSALResult {
    guard let account = try application.allAccounts().first else {
      screen.show("No account is signed in.")
      return try await acquireTokenInteractively()
    }
    do {
      let parameters = MSALSilentTokenParameters(scopes: scopes, account: account)
      return try await application.acquireTokenSilent(with: parameters)
    } catch let error as NSError
      where error.domain == MSALErrorDomain && error.code == MSALError.interactionRequired.rawValue
    {
      screen.show("Interaction required.")
      return try await acquireTokenInteractively()
    }
  }

  func acquireTokenInteractively() async throws -> MSALResult {
    screen.show("Sign in in the browser.")
    let webParameters = MSALWebviewParameters()
    let parameters = MSALInteractiveTokenParameters(scopes: scopes, webviewParameters: webParameters)
    parameters.promptType = .selectAccount
    return try await application.acquireToken(with: parameters)
  }

  /// For a machine without a browser.
  func acquireTokenByDeviceCode() async throws -> MSALResult {
    let screen = screen
    let parameters = MSALDeviceCodeTokenParameters(scopes: scopes) { code in screen.show(code.message) }
    return try await application.acquireToken(with: parameters)
  }

  func callGraph(with result: MSALResult) async throws {
    screen.show("Token for \(result.account.username ?? "an account").")
    if let error = result.cacheError { screen.show(error.localizedDescription) }
    var request = HTTPRequest(method: .get, url: me)
    request.headerFields[.authorization] = result.authorizationHeader
    let response = try await transport.send(HTTPTransportRequest(request))
    screen.show("Graph answered \(response.head.status.code):")
    let answer = try JSONSerialization.jsonObject(with: response.body)
    let pretty = try JSONSerialization.data(
      withJSONObject: answer, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
    screen.show(String(decoding: pretty, as: UTF8.self))
  }

  func signOut() throws {
    let accounts = try application.allAccounts()
    if accounts.isEmpty { screen.show("No account is signed in.") }
    for account in accounts {
      try application.remove(account)
      screen.show("Signed out \(account.username ?? "the account").")
    }
  }
}
