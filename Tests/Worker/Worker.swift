import ArgumentParser
import BrowserSignIn
import FoundationEssentials
import Glibc
import IdentityClient

/// The program that tests start as a second process, or beside another program.
///
/// `Worker sign-in` is ``SignIn``, and `Worker session` ``Session``; with a redirect URI alone the desktop starts it; all other commands are of ``CacheWork``.
@main
enum Worker {
  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == "sign-in" { return await SignIn.main(Array(arguments.dropFirst())) }
    if arguments.first == "session" { exit(try Session.run(Array(arguments.dropFirst()))) }
    do throws(IdentityError) {
      if let address = arguments.last.flatMap({ URL(string: $0) }), address.scheme != nil,
        try RedirectHandover.run(redirectURI: address)
      {
        return
      }
    } catch {
      write(json: Refusal(error))
      exit(EXIT_FAILURE)
    }
    try await CacheWork.run(arguments)
  }
}
