import ArgumentParser

struct Logout: AsyncParsableCommand {
  static let configuration = LogoutOptions.configuration

  @OptionGroup var options: LogoutOptions

  func run() async throws {
    let policy = options.broker.policy
    try await options.signOut(
      of: options.browser
        ? options.client.networkClient(broker: policy) : options.client.publicClient(broker: policy))
  }
}
