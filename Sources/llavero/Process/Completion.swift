import ArgumentParser
import EtcdStore
import FoundationEssentials
import GLibSupport
import Glibc
import MSALExtensionsStore
import TokenCache

extension CompletionKind {
  /// The user names of the group's accounts.
  static let accounts = CompletionKind.custom { words, _, _ async in await Completion.accounts(words) }
  /// The groups of the store.
  static let groups = CompletionKind.custom { words, _, _ async in await Completion.groups(words) }
  /// The caches of other programs.
  static let caches = CompletionKind.custom { _, _, _ in PeerRegistry().caches.map { printable($0.name) } }
}

/// Candidates for a shell's completion, found without a prompt, the network or error messages.
enum Completion {
  /// Whether a completion script runs this process.
  static let isRequested = processArguments.dropFirst().first == "---completion"

  /// How long a shell waits for candidates. A test waits for a busy machine.
  #if DEBUG
    private static let timeout = Duration.seconds(60)
  #else
    private static let timeout = Duration.seconds(1)
  #endif

  /// The options that name a cache. The parser takes asynchronous completions in asynchronous commands only.
  private struct Target: AsyncParsableCommand {
    @OptionGroup var options: GroupOptions
  }

  /// Detaches the process from the terminal, where it could prompt or print errors, and limits its time.
  static func begin() {
    Settings.passOverUnknown()
    let nothing = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
    for stream in [STDIN_FILENO, STDERR_FILENO] { dup2(nothing, stream) }
    Task.detached {
      try? await Task.sleep(for: timeout)
      _exit(EXIT_SUCCESS)
    }
  }

  fileprivate static func accounts(_ words: [String]) async -> [String] {
    guard let cache = await cache(words), let accounts = try? await cache.accounts() else { return [] }
    return accounts.map { printable($0.username ?? $0.homeAccountID) }
  }

  fileprivate static func groups(_ words: [String]) async -> [String] {
    guard let store = await cache(words)?.store, let groups = try? await store.groups() else { return [] }
    return groups.map(\.name)
  }

  /// The cache that the command line names so far; `nil` for one that is not on this machine.
  private static func cache(_ words: [String]) async -> TokenCacheAccessor? {
    let names = ["--store", "--group", "--key", "--collection"]
    var arguments: [String] = []
    for (option, value) in zip(words, words.dropFirst()) where names.contains(option) && !value.isEmpty {
      arguments += [option, value]
    }
    let target = try? await Target.asyncParseAsRoot(arguments) as? Target
    let cache = try? target?.options.cache
    return cache?.store is EtcdCacheStore ? nil : cache
  }
}
