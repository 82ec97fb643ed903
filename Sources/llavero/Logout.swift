import ArgumentParser
import ToolSupport

struct Logout: AsyncParsableCommand {
  static let configuration = LogoutOptions.configuration

  @OptionGroup var options: LogoutOptions

  func run() async throws {
    if options.browser { try NetworkProgram.takeOver(options) }
    try await options.signOut(of: options.client.publicClient(broker: options.broker.policy))
  }
}
