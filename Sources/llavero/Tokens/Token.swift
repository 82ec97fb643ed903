import ArgumentParser
import IdentityClient
import TokenCache

struct Token: AsyncParsableCommand {
  static let configuration = TokenOptions.configuration

  @OptionGroup var options: TokenOptions

  func run() async throws {
    let result = try await options.client.token(
      minimumValidity: options.minimumValidity?.seconds, broker: options.broker.policy,
      request: options.request)
    try options.print(result)
  }
}

struct GitCredential: AsyncParsableCommand {
  static let configuration = GitCredentialOptions.configuration

  @OptionGroup var options: GitCredentialOptions

  func run() async throws {
    guard let question = try options.question() else { return }
    question.answer(
      try await options.client.token(broker: options.broker.policy, request: options.request))
  }
}

extension ClientOptions {
  /// A token: borrowed, or from the cache, or renewed.
  ///
  /// - Parameters:
  ///   - minimumValidity: For how many seconds it must be good at least.
  ///   - policy: When the broker is asked.
  ///   - request: What to ask a client for.
  /// - Returns: The token, and whose it is.
  /// - Throws: `Failure.Message`, or `IdentityError`.
  fileprivate func token(
    minimumValidity: Double? = nil, broker policy: BrokerPolicy,
    request: (PublicClient) async throws(Failure.Message) -> SilentRequest
  ) async throws -> AuthenticationResult {
    var cache: TokenCacheAccessor?
    if self.cache.store.lenderSocket == nil {
      // The broker is asked here where nobody else is asked afterwards; else with them, so that the question is put once.
      let client = try publicClient(
        minimumValidity: minimumValidity, broker: policy == .required ? .required : .off)
      if let result = try await client.tokenWithoutNetwork(policy, request) { return result }
      cache = client.cache
    }
    let client = try await tokenClient(minimumValidity: minimumValidity, broker: policy, cache: cache)
    return try await client.renewed(try await request(client))
  }
}

extension PublicClient {
  /// Gets a token. An interruption leaves no renewal half done: the server may have replaced the refresh token.
  func token(_ request: SilentRequest) async throws(IdentityError) -> AuthenticationResult {
    do throws(IdentityError) {
      return try await acquireTokenSilent(request)
    } catch {
      await finishRenewals()
      throw error
    }
  }

  /// What can be had without the network: from the cache, and from the broker where that alone is asked. It sets up no
  /// HTTP, which takes longer than all else.
  ///
  /// - Returns: `nil` where the network has to be asked.
  fileprivate func tokenWithoutNetwork(
    _ policy: BrokerPolicy, _ request: (PublicClient) async throws(Failure.Message) -> SilentRequest
  ) async throws -> AuthenticationResult? {
    let asked: SilentRequest
    do throws(Failure.Message) {
      asked = try await request(self)
    } catch {
      // The broker may know somebody.
      guard policy == .automatic, error.isNotSignedIn else { throw error }
      return nil
    }
    return policy == .required
      ? try await acquireTokenSilent(asked) : try await acquireTokenFromCache(asked)
  }

  fileprivate func renewed(_ request: SilentRequest) async throws(IdentityError) -> AuthenticationResult {
    let result = try await token(request)
    if let error = result.cacheError {
      Terminal.error("warning: The new token could not be stored: " + printable(error.description))
    }
    return result
  }
}
