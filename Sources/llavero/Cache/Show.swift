import ArgumentParser
import FoundationEssentials
import TokenCache

struct Show: AsyncParsableCommand, GroupCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show a record's fields, claims and expiry.",
    discussion: """
      The id is that of "llavero list", or its beginning. The token and fields outside the schema are only \
      shown with --reveal. The signature of claims is not checked.

      Example:
        llavero show 3f2a

      JSON: group, record (as in "llavero list"), fields and claims under their own names, hidden_fields, \
      seconds_left, problems.
      """)

  @Argument(help: "The id of the record, or its beginning.", completion: .records)
  var id: String

  @Flag(help: "Show the token and all other fields.")
  var reveal = false

  @OptionGroup var output: OutputOptions
  @OptionGroup var groupOption: GroupOption
  @OptionGroup(title: "Store options") var storeOptions: StoreOptions

  func run() async throws {
    let now = Date()
    let snapshot = try await cache.snapshot()
    output.report(snapshot.problems)
    let record = try find(in: snapshot.document.listed(at: now), of: snapshot)
    let summary = record.summary
    let claims = record.fields["secret"]?.stringValue.flatMap(IDTokenClaims.init(token:))?.claims
    let shown = record.fields.filter { reveal || Self.openFields.contains($0.key) }
    let hidden = record.fields.keys.filter { shown[$0] == nil }.sorted()
    if output.json {
      return try Terminal.out([
        "group": group.name, "record": summary.members, "fields": shown, "hidden_fields": hidden,
        "claims": claims, "problems": snapshot.problems.map(\.members),
        "seconds_left": summary.expiresOn.map { Int($0.timeIntervalSince(now)) },
      ])
    }
    let left = summary.expiresOn.map { ", " + TimeLeft(until: $0, at: now).abbreviation } ?? ""
    Terminal.out(Terminal.output.styled("\(summary.type) \(summary.id)", .bold) + left)
    var lines = try Self.described(shown, times: Self.timeFields)
    for name in hidden {
      let size = record.fields[name]?.stringValue.map { ", \($0.count) characters" } ?? ""
      lines.append((name, Terminal.output.styled("hidden" + size, .dim)))
    }
    Self.print(lines)
    if let target = summary.target {
      Self.print(ScopeSet.list(target).map { ("", printable($0)) }, under: "Scopes")
    }
    if let claims { Self.print(try Self.described(claims, times: Self.timeClaims), under: "Claims") }
  }

  private static func described(
    _ members: JSONObject, times: Set<String>
  ) throws -> [(name: String, value: String)] {
    try members.sorted { $0.key < $1.key }.map { name, value in
      let text = try value.stringValue.map(printable) ?? json(value, names: .useDefaultKeys, layout: [])
      return (name, text + moment(name, value, among: times))
    }
  }

  private func find(in records: [ListedRecord], of snapshot: CacheSnapshot) throws -> ListedRecord {
    let found = records.filter { !id.isEmpty && $0.summary.id.hasPrefix(id.lowercased()) }
    guard let record = found.first else {
      // An unreadable part may hold it.
      try snapshot.checkComplete()
      throw Failure(
        "not_found", "No record of \(group.name) has an id that begins with \"\(id)\".",
        advice: "\"llavero list\" lists the ids.")
    }
    guard found.count == 1 else {
      throw Failure(
        "ambiguous", "\(found.count) records have an id that begins with \"\(id)\".", code: .usage,
        advice: "Use a longer one: \(found.map(\.summary.id).joined(separator: ", ")).")
    }
    return record
  }

  /// Fields of the schema that are not secret. Any other field may be.
  private static let openFields: Set<String> = [
    "account_source", "alternative_account_id", "application_cache_identifier", "authority_type",
    "cached_at", "client_id", "credential_type", "environment", "expires_in", "expires_on",
    "ext_expires_on", "extended_expires_on", "family_id", "family_name", "given_name",
    "home_account_id", "kid", "last_modification_app", "last_modification_time", "local_account_id",
    "middle_name", "name", "realm", "redirect_uri", "refresh_on", "requested_claims", "target",
    "token_type", "username",
  ]

  private static func print(_ lines: [(name: String, value: String)], under heading: String? = nil) {
    if let heading { Terminal.out("\n" + Terminal.output.styled(heading, .bold)) }
    let names = lines.map { printable($0.name) }
    let width = min(names.map(\.columns).max() ?? 0, 32)
    for (name, line) in zip(names, lines) {
      Terminal.out("  " + (name.isEmpty ? "" : name.padded(to: width) + "  ") + line.value)
    }
  }

  private static let timeFields: Set<String> = [
    "cached_at", "expires_on", "ext_expires_on", "extended_expires_on", "last_modification_time",
    "refresh_on",
  ]
  private static let timeClaims: Set<String> = ["auth_time", "exp", "iat", "nbf"]

  /// Returns the time of a field or claim in seconds since 1970; empty for others.
  private static func moment(_ name: String, _ value: JSONValue, among names: Set<String>) -> String {
    guard names.contains(name), let seconds = value.numberValue, (0..<253_402_300_800).contains(seconds)
    else { return "" }
    let date = Date(timeIntervalSince1970: seconds).formatted(.iso8601)
    return Terminal.output.styled(" (\(date))", .dim)
  }
}
