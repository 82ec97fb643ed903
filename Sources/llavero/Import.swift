import ArgumentParser
import CommandSupport
import FoundationEssentials
import TokenCache

struct Import: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Take a serialized token cache of any MSAL library into a group.",
    discussion: """
      Of two records for one thing the newer stays; what is in the group already is not lost. The file is \
      left as it is: it still holds the tokens in clear.

      Examples:
        llavero import ~/.azure/msal_token_cache.json
        some-program | llavero import - --group com.example.mail

      JSON: group, saved and kept (how many records).
      """)

  private struct Result: Encodable {
    let group: String
    let saved: Int
    let kept: Int
  }

  @OptionGroup var options: GroupOptions
  @OptionGroup var output: OutputOptions

  @Argument(help: "The file, or - for standard input.", completion: .file(extensions: ["json"]))
  var file: String

  private static let advice =
    "It should be one JSON object with sections such as \"AccessToken\" and \"Account\"."

  func run() async throws {
    let json = try InputFile.read(file)
    let name = InputFile.name(of: file)
    let document: CacheDocument
    do {
      document = try CacheDocument(json: json)
    } catch {
      throw Failure.Message(
        name: error.code.rawValue, message: "\(name): \(error.message)", advice: Self.advice)
    }
    // Any JSON object would do for the format, and be kept for good.
    guard document.recordCount > 0 || document.isEmpty else {
      throw Failure.Message(
        name: "not_a_cache", message: "\(name): There is no record of a token cache in it.",
        advice: Self.advice)
    }
    let summary = try await options.cache.import(document) { done, count in
      Terminal.progress("Importing: \(done) of \(count) accounts", isDone: done == count)
    }
    if output.json {
      let result = Result(group: options.group.name, saved: summary.saved, kept: summary.kept)
      return Terminal.out(try CommandSupport.json(result))
    }
    Terminal.out(
      "\(counted(summary.saved, "record")) imported into \(options.group.name), "
        + "\(summary.kept) there already.")
  }
}
