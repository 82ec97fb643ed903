import ArgumentParser
import ToolSupport

struct Logout: AsyncParsableCommand {
  static let configuration = LogoutOptions.configuration

  @OptionGroup var options: LogoutOptions

  func run() async throws {
    try await options.signOut(of: options.client.networkClient(broker: options.broker.policy))
  }
}
