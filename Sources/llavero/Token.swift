import ArgumentParser
import IdentityClient
import ToolSupport

struct Token: AsyncParsableCommand {
  static let configuration = TokenOptions.configuration

  @OptionGroup var options: TokenOptions

  func run() async throws {
    try options.client.handOverToBorrow()
    let policy = options.broker.policy
    let client = try options.client.publicClient(
      minimumValidity: options.minimumValidity?.seconds, broker: policy.withoutNetwork)
    let request = { () async throws(Failure.Message) in try await options.request(to: client) }
    guard let result = try await client.tokenWithoutNetwork(policy, request) else {
      try NetworkProgram.takeOver([options.client.cache.store])
    }
    try options.print(result)
  }
}
