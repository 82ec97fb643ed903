import ArgumentParser
import IdentityClient
import ToolSupport

struct Token: AsyncParsableCommand {
  static let configuration = TokenOptions.configuration

  @OptionGroup var options: TokenOptions

  func run() async throws {
    let client = try options.client.publicClient(minimumValidity: options.minimumValidity?.seconds)
    guard let result = try await client.cached(try await options.request(to: client)) else {
      try NetworkProgram.takeOver(options)
    }
    try options.print(result)
  }
}
