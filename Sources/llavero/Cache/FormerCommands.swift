import ArgumentParser
import TokenCache

// The commands and options of version 0.2 that have other names now. They work as before, hidden from the help, and
// are removed in the next version: delete this file, and the properties named `former`.

/// `llavero list --groups`
struct Groups: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "groups", abstract: "Former name of \"llavero list --groups\".", shouldDisplay: false)

  @OptionGroup var output: OutputOptions
  @OptionGroup(title: "Store options") var store: StoreOptions

  func run() async throws { try await GroupList.print(store, output) }
}

/// `llavero adopt` without a name and, with `--fix`, a part of `llavero doctor --fix`
struct Sources: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sources", abstract: "Former name of \"llavero adopt\" and \"llavero doctor --fix\".",
    shouldDisplay: false)

  @Flag(help: "Close files with tokens to others, and remove lock files of dead programs.")
  var fix = false

  @OptionGroup var output: OutputOptions
  @OptionGroup(title: "Store options") var store: StoreOptions

  func run() async throws { try await OtherCacheList.print(store, output, fix: fix) }
}

/// `llavero doctor --fix`, for one group
struct FormerClearOptions: ParsableArguments {
  @Flag(help: "Remove unreadable entries.")
  var damaged = false
}

extension Clear {
  func removeDamaged() async throws {
    let (group, store) = (options.group, try options.cache.store)
    let problems = try await options.cache.snapshot().problems
    let entries = UnreadableEntries(problems, in: group)
    if let entries, !isDryRun {
      if !yes { try entries.confirm(advice: Self.confirmationAdvice) }
      try await entries.remove(from: store)
    } else if !isDryRun, try await store.groups().contains(group) {
      // What remains of a group without entries, such as items without a secret.
      _ = try await store.remove(.damaged, in: group)
    }
    let count = entries?.removalCount ?? 0
    if output.json {
      let problems = (entries?.problems ?? []).map(ProblemSummary.init)
      return Terminal.out(
        try json(
          Result(
            group: group.name, dryRun: isDryRun, removed: [], unreadable: count, problems: problems)))
    }
    let verb = isDryRun ? "would be removed" : "removed"
    guard let entries else { return Terminal.out("0 records \(verb) from \(group.name).") }
    entries.descriptions(isDryRun ? "would be" : "was").forEach(Terminal.out)
    if count > 0 { Terminal.out("\(counted(count, "item")) \(verb) from \(group.name).") }
  }
}
