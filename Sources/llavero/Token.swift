import AccountCommands
import ArgumentParser
import CommandSupport
import IdentityClient

struct Token: AsyncParsableCommand {
  static let configuration = TokenOptions.configuration

  @OptionGroup var options: TokenOptions

  func run() async throws {
    guard let result = try await cachedToken() else { try NetworkProgram.takeOver() }
    try options.print(result)
  }

  private func cachedToken() async throws(Failure.Message) -> AuthenticationResult? {
    guard !options.forcesRefresh else { return nil }
    let client = try options.client.publicClient(minimumValidity: options.minimumValidity?.seconds)
    let request = try await options.request(to: client)
    do throws(IdentityError) {
      return try await client.acquireTokenFromCache(request)
    } catch {
      throw Failure.Message(error)
    }
  }
}
