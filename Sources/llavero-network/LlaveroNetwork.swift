import ArgumentParser
import CacheCommands
import ToolSupport

/// What of `llavero` needs the network. It is not for people: `llavero` starts it, and documents it.
struct LlaveroNetwork: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "llavero", version: CommandProgram.version,
    subcommands: [
      Login.self, Logout.self, CommandList.status, Token.self, Me.self, Get.self, Lend.self,
      GitCredential.self,
    ] + CommandList.cache)
}

@main
enum Program {
  static func main() {
    let signals = Interruption.block()
    CommandProgram.run(LlaveroNetwork.self, lenderTransport: Network.lenderTransport) {
      _ throws(Failure.Message) in
      try Network.transport(allowsLoopbackHTTP: true)
    } wait: {
      Interruption.wait(for: signals, cancelling: $0)
    }
  }
}
