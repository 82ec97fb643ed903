import ArgumentParser
import FoundationEssentials
import IdentityClient
import ToolSupport

struct GitCredential: AsyncParsableCommand {
  static let configuration = GitCredentialOptions.configuration

  @OptionGroup var options: GitCredentialOptions

  func run() async throws {
    try options.client.handOverToBorrow()
    guard let question = try options.question() else { return }
    let policy = options.broker.policy
    let client = try options.client.publicClient(broker: policy.withoutNetwork)
    let request = { () async throws(Failure.Message) in try await options.request(to: client) }
    guard let result = try await client.tokenWithoutNetwork(policy, request) else {
      try NetworkProgram.takeOver([options.client.cache.store])
    }
    question.answer(result)
  }
}

extension BrokerPolicy {
  /// That of the program without a network. It asks the broker where nobody else is asked afterwards; else the program
  /// with one does, so that the question is put once.
  var withoutNetwork: BrokerPolicy { self == .required ? .required : .off }
}

extension PublicClient {
  /// What can be had without the network: from the cache, and from the broker where that alone is asked.
  ///
  /// - Returns: `nil` where the program for the network has to go on.
  func tokenWithoutNetwork(
    _ policy: BrokerPolicy, _ request: () async throws(Failure.Message) -> SilentRequest
  ) async throws(Failure.Message) -> AuthenticationResult? {
    let asked: SilentRequest
    do throws(Failure.Message) {
      asked = try await request()
    } catch {
      // The broker may know somebody.
      guard policy == .automatic, error.isNotSignedIn else { throw error }
      return nil
    }
    do throws(IdentityError) {
      return policy == .required
        ? try await acquireTokenSilent(asked) : try await acquireTokenFromCache(asked)
    } catch {
      throw Failure.Message(error)
    }
  }
}
