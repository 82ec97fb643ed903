import AccountCommands
import ArgumentParser
import CommandSupport

/// What of `llavero` needs the network. It is not for people: `llavero` starts it, and documents it.
@main
struct LlaveroNetwork: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "llavero", version: CommandProgram.version,
    subcommands: [Login.self, Logout.self, Token.self])

  @MainActor static func main() async {
    await Interruption.cancels { await CommandProgram.run(Self.self) }
  }
}
