import ArgumentParser
import CommandSupport
import FoundationEssentials
import Glibc
import TokenCache

struct Export: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write all of a group as one serialized token cache that any MSAL library reads.",
    discussion: """
      The output holds every token in clear. To a terminal it goes only with --reveal; a file is made \
      readable by you alone, and one that exists is not touched. When a part of the group cannot be read, \
      the rest is written and the exit code is 1.

      Examples:
        llavero export cache.json
        llavero export | some-program
      """)

  @OptionGroup var options: GroupOptions

  @Argument(help: "A new file, or - for standard output.", completion: .file(extensions: ["json"]))
  var file = "-"

  @Flag(help: "Write to a terminal, too.")
  var reveal = false

  func run() async throws {
    guard file != "-" || !Terminal.output.isTerminal || reveal else {
      throw Failure.Message(
        code: .usage, name: "reveal_required",
        message: "The export holds every token in clear and would stand on the terminal.",
        advice: "Name a file, send it to a program, or add --reveal.")
    }
    let (document, problems) = try await options.cache.export()
    ProblemSummary.report(problems)
    let json = try document.json()
    if file == "-" {
      Terminal.out(printableJSON(String(decoding: json, as: UTF8.self)))
    } else {
      try Self.create(file, json)
      let count = counted(document.recordCount, "record")
      Terminal.error("\(count) of \(options.group.name) written to \(printable(file)), in clear.")
    }
    guard !problems.contains(where: \.hidesRecords) else {
      throw Failure.Message(
        name: "incomplete", message: "The export lacks what could not be read of \(options.group.name).")
    }
  }

  private static func create(_ path: String, _ contents: Data) throws {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure(path) }
    var rest = contents[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else {
        let error = failure(path)
        close(descriptor)
        unsafe unlink(path)
        throw error
      }
      rest = rest.dropFirst(count)
    }
    guard fsync(descriptor) == 0, close(descriptor) == 0 else { throw failure(path) }
  }

  private static func failure(_ path: String) -> Failure.Message {
    let reason = unsafe String(cString: strerror(errno))
    return Failure.Message(
      name: "unwritable", message: "\(path) cannot be written: \(reason).",
      advice: errno == EEXIST ? "Name a file that does not exist yet." : nil)
  }
}
