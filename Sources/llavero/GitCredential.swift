import ArgumentParser
import FoundationEssentials
import IdentityClient
import ToolSupport

struct GitCredential: AsyncParsableCommand {
  static let configuration = GitCredentialOptions.configuration

  @OptionGroup var options: GitCredentialOptions

  func run() async throws {
    guard let question = try options.question() else { return }
    let client = try options.client.publicClient()
    guard let result = try await client.cached(try await options.request(to: client)) else {
      try NetworkProgram.takeOver(options, input: question.input)
    }
    question.answer(result)
  }
}

extension PublicClient {
  /// What the cache has for a request that may need the network.
  func cached(_ request: SilentRequest) async throws(Failure.Message) -> AuthenticationResult? {
    do throws(IdentityError) {
      return try await acquireTokenFromCache(request)
    } catch {
      throw Failure.Message(error)
    }
  }
}
