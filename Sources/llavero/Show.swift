import ArgumentParser
import FoundationEssentials
import TokenCache

struct Show: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Explain one record: its fields and, for a token, its claims, scopes and time left.",
    discussion: """
      The token itself, and fields that the schema does not name, are hidden unless --reveal is given.

      Example:
        llavero show 3f2a
      """)

  private struct Result: Encodable {
    let group: String
    let record: RecordSummary
    let fields: JSONObject
    let hiddenFields: [String]
    let claims: JSONObject?
    let scopes: [String]?
    let secondsLeft: Int?

    // The names inside `fields` and `claims` are the record's own and stay as they are.
    enum CodingKeys: String, CodingKey {
      case group, record, fields, claims, scopes
      case hiddenFields = "hidden_fields"
      case secondsLeft = "seconds_left"
    }
  }

  @OptionGroup var options: GroupOptions
  @OptionGroup var output: OutputOptions

  @Argument(help: "The id of the record as \"llavero list\" shows it, or its beginning.")
  var id: String

  @Flag(help: "Show the token itself and every other field.")
  var reveal = false

  func run() async throws {
    let now = Date()
    let (document, _) = try await options.cache.export()
    let record = try Self.find(id, in: document.listed(at: now))
    let token = record.fields["secret"]?.stringValue
    let claims = token.flatMap(IDTokenClaims.init(token:))?.claims
    let shown = record.fields.filter { reveal || Self.openFields.contains($0.key) }
    let hidden = record.fields.keys.filter { shown[$0] == nil }.sorted()
    let scopes = record.summary.target.map { $0.split(separator: " ").map(String.init) }
    if output.json {
      return Terminal.out(
        try json(
          Result(
            group: options.group.name, record: record.summary, fields: shown, hiddenFields: hidden,
            claims: claims, scopes: scopes,
            secondsLeft: record.summary.expiresOn.map { Int($0.timeIntervalSince(now)) })))
    }
    for (name, value) in shown.sorted(by: { $0.key < $1.key }) { Self.line(name, try Self.text(value)) }
    for name in hidden {
      let count = record.fields[name]?.stringValue?.count
      Self.line(name, Terminal.dim(count.map { "hidden, \($0) characters" } ?? "hidden"))
    }
    if let expiresOn = record.summary.expiresOn {
      Terminal.out("")
      Self.line("Expires", "\(expiresOn.formatted(.iso8601)) (\(timeLeft(until: expiresOn, from: now)))")
    }
    if let scopes {
      Terminal.out("\n" + Terminal.bold("Scopes"))
      scopes.forEach { Terminal.out("  " + printable($0)) }
    }
    if let claims {
      Terminal.out("\n" + Terminal.bold("Claims"))
      for (name, value) in claims.sorted(by: { $0.key < $1.key }) {
        Self.line("  " + printable(name), try Self.text(value) + Self.meaning(of: name, value))
      }
    }
  }

  private static func find(_ id: String, in records: [ListedRecord]) throws -> ListedRecord {
    let found = records.filter { !id.isEmpty && $0.summary.id.hasPrefix(id.lowercased()) }
    guard let record = found.first else {
      throw Failure.Message(
        name: "not_found", message: "No record has an id that begins with \(id).",
        advice: "\"llavero list\" shows the ids.")
    }
    guard found.count == 1 else {
      throw Failure.Message(
        code: .usage, name: "ambiguous",
        message: "\(found.count) records have an id that begins with \(id).",
        advice: "Give more of it: \(found.map(\.summary.id).joined(separator: ", ")).")
    }
    return record
  }

  /// Fields of the schema that are no secret. Whatever is not among them may be one.
  private static let openFields: Set<String> = [
    "account_source", "alternative_account_id", "application_cache_identifier", "authority_type",
    "cached_at", "client_id", "credential_type", "environment", "expires_in", "expires_on",
    "ext_expires_on", "extended_expires_on", "family_id", "family_name", "given_name",
    "home_account_id", "kid", "last_modification_app", "last_modification_time", "local_account_id",
    "middle_name", "name", "realm", "redirect_uri", "refresh_on", "requested_claims", "target",
    "token_type", "username",
  ]

  private static func line(_ name: String, _ value: String) {
    Terminal.out(name + ":" + String(repeating: " ", count: max(1, 24 - name.count)) + value)
  }

  private static func text(_ value: JSONValue) throws -> String {
    if let text = value.stringValue { return printable(text) }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return printable(String(decoding: try encoder.encode(value), as: UTF8.self))
  }

  /// A claim that is a moment, as a date.
  private static func meaning(of name: String, _ value: JSONValue) -> String {
    guard ["exp", "iat", "nbf", "auth_time"].contains(name), case .integer(let seconds) = value,
      (0..<253_402_300_800).contains(seconds)
    else { return "" }
    return Terminal.dim(" (\(Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)))")
  }
}
