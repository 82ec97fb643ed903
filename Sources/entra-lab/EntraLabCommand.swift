import ArgumentParser
import Dispatch
import EntraLab
import FoundationEssentials
import Glibc

@main
struct EntraLabCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "entra-lab",
    abstract: "A local stand-in for Entra ID and Microsoft Graph.",
    discussion: """
      Prints the authority, the file with the certificate authority to trust, and the control URL, one per \
      line. Runs until it is interrupted.

      Users:
      \(indented(LabDirectory.standard.users.map { "\($0.userPrincipalName)  \($0.displayName)" }))

      Clients:
      \(indented(LabDirectory.standard.apps.map { "\($0.clientID)  \($0.name)" }))

      Control requests, each sent with POST to the control URL:
      \(indented(Lab.commands.split(separator: "\n")))

      GET returns the settings, users and clients in the form that these requests take. The address that ends in \
      /__log, not /__ctl, returns the requests that the lab received.
      """)

  private static func indented(_ lines: [some StringProtocol]) -> String {
    lines.map { "  " + $0 }.joined(separator: "\n")
  }

  @Option(help: "The port to listen on (default: any free port).")
  var port: UInt16 = 0

  @Option(help: "The directory for the CA file (default: a temporary one).")
  var directory: String?

  @Flag(help: "Print one JSON object instead of lines.")
  var json = false

  func run() async throws {
    let (signals, continuation) = AsyncStream.makeStream(of: Void.self)
    // From here on, so that none ends the process before it is awaited.
    let sources = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { continuation.yield() }
      source.resume()
      return source
    }
    let lab = try await Lab.start(port: port, directory: directory)
    // In the order of their names.
    let summary = [
      ("authority", lab.authority()), ("caBundle", lab.caBundlePath), ("control", lab.baseURL + "/__ctl"),
    ]
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let object = try encoder.encode(Dictionary(uniqueKeysWithValues: summary))
    print(json ? String(decoding: object, as: UTF8.self) : summary.map(\.1).joined(separator: "\n"))
    fflush(nil)
    for await _ in signals { break }
    for source in sources { source.cancel() }
    await lab.stop()
  }
}
