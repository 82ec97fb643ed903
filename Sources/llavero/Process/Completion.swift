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

/// What a shell asks for while a person types: answered without a question, the network or an error message.
enum Completion {
  /// Whether a completion script runs this process.
  static let isRequested = processArguments.dropFirst().first == "---completion"

  /// How long a shell waits for candidates.
  private static let timeout = Duration.seconds(1)

  /// Closes the terminal to what could ask or complain, and limits the time.
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
    guard let cache = cache(words), let accounts = try? await cache.accounts() else { return [] }
    return accounts.map { printable($0.username ?? $0.homeAccountID) }
  }

  fileprivate static func groups(_ words: [String]) async -> [String] {
    guard let store = cache(words)?.store, let groups = try? await store.groups() else { return [] }
    return groups.map(\.name)
  }

  /// The cache that the command line is about so far; `nil` for one that is not on this machine.
  private static func cache(_ words: [String]) -> TokenCacheAccessor? {
    let names = ["--store", "--group", "--key", "--collection"]
    var options: [String] = []
    for (option, value) in zip(words, words.dropFirst()) where names.contains(option) { options += [option, value] }
    let cache = try? (GroupOptions.parse(options)).cache
    return cache?.store is EtcdCacheStore ? nil : cache
  }
}
