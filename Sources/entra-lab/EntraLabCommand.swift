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
      """)

  @Option(help: "The port to listen on (default: any free port).")
  var port: UInt16 = 0

  @Option(help: "The directory for the CA file (default: a temporary one).")
  var directory: String?

  @Flag(help: "Print one JSON object instead of lines.")
  var json = false

  func run() async throws {
    let signals = SignalWaiter([SIGINT, SIGTERM])
    let lab = try await Lab.start(port: port, directory: directory)
    let summary = Summary(
      authority: lab.authority(), caBundle: lab.caBundlePath, control: lab.baseURL + "/__ctl")
    print(try json ? summary.json : summary.lines)
    fflush(nil)
    await signals.wait()
    await lab.stop()
  }
}

private struct Summary: Encodable {
  let authority: String
  let caBundle: String
  let control: String

  var lines: String { [authority, caBundle, control].joined(separator: "\n") }

  var json: String {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
  }
}

/// Catches signals from its creation on, so that none ends the process before it is awaited.
private struct SignalWaiter {
  private let sources: [any DispatchSourceSignal]
  private let stream: AsyncStream<Void>

  init(_ signals: [Int32]) {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    self.stream = stream
    sources = signals.map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { continuation.yield() }
      source.resume()
      return source
    }
  }

  func wait() async {
    for await _ in stream { break }
    for source in sources { source.cancel() }
  }
}
