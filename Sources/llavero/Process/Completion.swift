import ArgumentParser
import Dispatch
import EtcdStore
import FoundationEssentials
import GLibSupport
import Glibc
import MSALExtensionsStore
import Synchronization
import TokenCache

extension CompletionKind {
  /// The user names of the group's accounts, or their home account ids.
  static let accounts = CompletionKind.custom { words, _, _ in
    Completion.find(words) {
      try await $0.accounts().compactMap { account in
        [account.username, account.homeAccountID].compactMap { $0.flatMap(Completion.candidate) }.first
      }
    }
  }
  static let groups = CompletionKind.custom { words, _, _ in
    // The group's name may be unfinished itself.
    Completion.find(words, without: "--group") { try await $0.store.groups().map(\.name) }
  }
  /// The ids of the group's records.
  static let records = CompletionKind.custom { words, _, _ in
    Completion.find(words) { try await $0.snapshot().document.listed(at: Date()).map(\.summary.id) }
  }
  static let plaintextCaches = CompletionKind.custom { _, _, _ in
    PeerRegistry().caches.filter { $0.file != nil }.compactMap { Completion.candidate($0.name) }
  }

  /// The beginnings of a value's forms.
  static func values(of forms: String) -> CompletionKind {
    .custom { _, _, _ in Completion.beginnings(of: forms).compactMap(Completion.candidate) }
  }
}

/// Candidates for a shell's completion, found without a prompt, the network or error messages.
enum Completion {
  /// Whether a completion script runs this process.
  static let isRequested = processArguments.dropFirst().first == "---completion"

  /// A name as a candidate; `nil` for one that is not safe: bash expands candidates, such as a "$(command)", and inserts them
  /// without quotation marks. Nor is one that the parser would take for an option.
  static func candidate(_ name: String) -> String? {
    guard shellQuoted(name) == name, !name.hasPrefix("-") else { return nil }
    // zsh takes what follows a colon for a description.
    return CompletionShell.requesting == .zsh ? name.replacing(":", with: #"\:"#) : name
  }

  /// The forms of a value, such as "keyring, file or file:DIR", up to what stands for a part of it.
  static func beginnings(of forms: String) -> [String] {
    forms.replacing(" or ", with: ", ").split(separator: ", ").map { String($0.prefix { !$0.isUppercase }) }
  }

  /// The parser's script, with what comes after "help", and with caches and stores beside the files of an address.
  static func script(_ text: String) -> String {
    if text.hasPrefix("#compdef") { return zsh(text) }
    if text.hasPrefix("function __llavero") { return fish(text) }
    return text.hasPrefix("#!/bin/bash") ? bash(text) : text
  }

  private static let topics = HelpText.topics
  private static let topicNames = topics.map(\.name).joined(separator: " ")
  /// The topics with commands below them, and those.
  private static let parents = topics.filter { !$0.below.isEmpty }.map {
    (name: $0.name, below: $0.below.joined(separator: " "))
  }
  private static let addresses = CacheAddress.names.joined(separator: " ")

  /// Also completes a value after "=".
  private static func zsh(_ text: String) -> String {
    let cases = parents.map { "\($0.name)) compadd -- \($0.below);;" }.joined(separator: " ")
    return text.replacing(/('\*?--[a-z-]+)(\[.*\]:)/) { "\($0.output.1)=\($0.output.2)" }
      .replacing(
        "'*:subcommands:'",
        with: "'1:subcommands:(\(topicNames))' '2:subcommands:{case \"${words[2]}\" in \(cases) esac}'"
      )
      .replacing("':address:_files'", with: "':address:_llavero_addresses'")
      .replacing(
        "_llavero_import() {",
        with: """
          _llavero_addresses() {
              local -i ret=1
              compadd "${@}" -- ${$(print -l \(addresses)):#*[:/]} && ret=0
              compadd "${@}" -S '' -- ${(M)$(print -l \(addresses)):#*[:/]} && ret=0
              _files "${@}" && ret=0
              return "${ret}"
          }

          _llavero_import() {
          """)
  }

  private static func fish(_ text: String) -> String {
    func line(_ command: String, at number: Int = 1, if condition: String = "", _ words: String) -> String {
      let isThere = "__llavero_should_offer_completions_for_positional \"llavero \(command)\" -eq \(number)"
      return "complete -c 'llavero' -n '\(isThere)\(condition)' \(words)\n"
    }
    let below = parents.map {
      line("help", at: 2, if: "; and __fish_seen_subcommand_from \($0.name)", "-fa '\($0.below)'")
    }
    let ofAddress = ["import", "export"].map { line($0, "-a '\(addresses)'") }
    return text + "\n" + ([line("help", "-fa '\(topicNames)'")] + below + ofAddress).joined()
  }

  /// Bash splits words at ":", "=" and "@", too: a function joins them before. It passes a value after "=" as a word of its own.
  private static func bash(_ text: String) -> String {
    func adding(_ words: String) -> String {
      "__llavero_add_completions -W $'\(words.replacing(" ", with: #"\n"#))'"
    }
    let cases = ([(name: "help", below: topicNames)] + parents).map { "\($0.name)) \(adding($0.below)) ;;" }
    let help = "    case \"${prev}\" in\n    \(cases.joined(separator: "\n    "))\n    esac"
    let files = "    1)\n        __llavero_add_completions -f\n"
    return text.replacing("_llavero_help() {", with: "_llavero_help() {\n\(help)")
      .replacing(files, with: files + "        \(adding(addresses))\n")
      .replacing("-F _llavero llavero", with: "-F _llavero_whole_words llavero")
        + #"""

        _llavero_whole_words() {
            local line="${COMP_LINE}" word piece
            local -i index current=0
            local -a words=()
            for index in "${!COMP_WORDS[@]}"; do
                word="${COMP_WORDS[index]}"
                if [[ "${index}" -gt 0 && -n "${word}" && "${line}" != [[:space:]]* ]]; then
                    words[-1]+="${word}"
                else
                    words+=("${word}")
                fi
                [[ "${index}" -eq "${COMP_CWORD}" ]] && current="${#words[@]}-1" piece="${word}"
                line="${line#"${line%%[![:space:]]*}"}"
                line="${line#"${word}"}"
            done
            word="${words[current]}"
            if [[ "${word}" == --*=* ]]; then
                words=("${words[@]:0:current}" "${word%%=*}" "${word#*=}" "${words[@]:current+1}")
                current+=1
            fi
            local -a COMP_WORDS=("${words[@]}")
            local -i COMP_CWORD="${current}"
            # Of a word that was not joined, what stands before the cursor counts.
            local whole="${COMP_WORDS[COMP_CWORD]}"
            [[ "${whole}" == "${piece}" ]] && whole="${2}"
            _llavero "${1}" "${whole}" "${COMP_WORDS[COMP_CWORD - 1]}"
            COMPREPLY=("${COMPREPLY[@]#"${whole%"${2}"}"}")
            # The value goes on.
            [[ "${COMPREPLY[*]}" == *[:/] ]] && compopt -o nospace 2>/dev/null
            return 0
        }

        """#
  }

  /// How long a shell waits for candidates. A test waits for a busy machine.
  #if DEBUG
    private static let timeout = Duration.seconds(60)
  #else
    private static let timeout = Duration.seconds(1)
  #endif

  /// Prints the candidates, and ends the process.
  ///
  /// The process is detached from the terminal, where it could prompt or print errors. The parser calls for the candidates on
  /// a thread of its own, which may block: its asynchronous completions do not work in options that are parsed alone.
  static func run() async -> Never {
    Settings.ignoreUnknown()
    let nothing = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
    for stream in [STDIN_FILENO, STDERR_FILENO] { dup2(nothing, stream) }
    DispatchQueue(label: "llavero.completion").async {
      do {
        _ = try Llavero.parseAsRoot(Array(processArguments.dropFirst()))
      } catch {
        Failure.exit(with: error)
      }
      exit(EXIT_SUCCESS)
    }
    try? await Task.sleep(for: timeout)
    _exit(EXIT_SUCCESS)
  }

  /// Finds candidates in the cache that the command line names so far. Blocks: not for a thread of Swift's pool.
  fileprivate static func find(
    _ words: [String], without option: String? = nil,
    in search: @escaping @Sendable (TokenCacheAccessor) async throws -> [String]
  ) -> [String] {
    guard let cache = cache(words, without: option) else { return [] }
    let found = Mutex<[String]>([])
    let end = DispatchSemaphore(value: 0)
    Task.detached {
      let candidates = try? await search(cache)
      found.withLock { $0 = candidates ?? [] }
      end.signal()
    }
    end.wait()
    return found.withLock { $0 }
  }

  /// The cache that the words name; `nil` for one that is not on this machine.
  private static func cache(_ words: [String], without option: String?) -> TokenCacheAccessor? {
    let names = ["--store", "--group", "--key", "--collection"].filter { $0 != option }
    let words = words.flatMap {
      $0.hasPrefix("--") ? $0.split(separator: "=", maxSplits: 1).map(String.init) : [$0]
    }
    var arguments: [String] = []
    for (option, value) in zip(words, words.dropFirst()) where names.contains(option) && !value.isEmpty {
      arguments += [option, value]
    }
    let cache = try? List.parse(arguments).cache
    return cache?.store is EtcdCacheStore ? nil : cache
  }
}
