import ArgumentParser
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

  func run() async throws {
    let json = try InputFile.read(file)
    let document: CacheDocument
    do {
      document = try CacheDocument(json: json)
    } catch {
      throw Failure.Message(
        name: error.code.rawValue, message: "\(file) is no serialized token cache: \(error.message)",
        advice: "It should hold one JSON object with sections such as \"AccessToken\" and \"Account\".")
    }
    let summary = try await options.cache.import(document) { done, count in
      Terminal.progress("Imported \(done) of \(count) accounts", isLast: done == count)
    }
    if output.json {
      let result = Result(group: options.group.name, saved: summary.saved, kept: summary.kept)
      return Terminal.out(try llavero.json(result))
    }
    Terminal.out(
      "\(summary.saved) records imported into \(options.group.name), \(summary.kept) were there already.")
  }
}
