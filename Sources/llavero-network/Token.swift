import AccountCommands
import ArgumentParser
import CommandSupport
import IdentityClient
import TokenCache

/// Renews a token that `llavero` did not find, or not good enough.
struct Token: AsyncParsableCommand {
  static let configuration = TokenOptions.configuration

  @OptionGroup var options: TokenOptions

  func run() async throws {
    let client = try options.client.networkClient(minimumValidity: options.minimumValidity?.seconds)
    let request = try await options.request(to: client)
    let result = try await renewed(request, by: client)
    if let error = result.cacheError {
      Terminal.error("warning: The new token could not be stored: " + printable(error.description))
    }
    try options.print(result)
  }

  private func renewed(
    _ request: SilentRequest, by client: PublicClient
  ) async throws(Failure.Message) -> AuthenticationResult {
    do throws(IdentityError) {
      return try await client.acquireTokenSilent(request)
    } catch {
      throw Failure.Message(error)
    }
  }
}
