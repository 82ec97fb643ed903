import ArgumentParser
import IdentityClient
import TokenCache
import ToolSupport

/// Renews a token that `llavero` did not find, or not good enough.
struct Token: AsyncParsableCommand {
  static let configuration = TokenOptions.configuration

  @OptionGroup var options: TokenOptions

  func run() async throws {
    let client = try await options.client.tokenClient(
      minimumValidity: options.minimumValidity?.seconds, broker: options.broker.policy)
    try options.print(try await client.renewed(try await options.request(to: client)))
  }
}

struct GitCredential: AsyncParsableCommand {
  static let configuration = GitCredentialOptions.configuration

  @OptionGroup var options: GitCredentialOptions

  func run() async throws {
    guard let question = try options.question() else { return }
    let client = try await options.client.tokenClient(broker: options.broker.policy)
    question.answer(try await client.renewed(try await options.request(to: client)))
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

  fileprivate func renewed(_ request: SilentRequest) async throws(Failure.Message) -> AuthenticationResult {
    do throws(IdentityError) {
      let result = try await token(request)
      if let error = result.cacheError {
        Terminal.error("warning: The new token could not be stored: " + printable(error.description))
      }
      return result
    } catch {
      throw Failure.Message(error)
    }
  }
}
