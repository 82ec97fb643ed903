import ArgumentParser
import ToolSupport

struct Logout: AsyncParsableCommand {
  static let configuration = LogoutOptions.configuration

  @OptionGroup var options: LogoutOptions

  func run() async throws {
    if options.browser { try NetworkProgram.takeOver([options.client.cache.store]) }
    try await options.signOut(of: options.client.publicClient(broker: options.broker.policy))
  }
}
