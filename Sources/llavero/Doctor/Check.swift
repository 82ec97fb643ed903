import FoundationEssentials
import GLibSupport
import SecretService
import TokenCache

/// One check of `llavero doctor`. It leaves everything as it was, but for a collection that `--unlock` unlocks or makes.
struct Check: Sendable {
  /// A stable name for programs.
  let name: String
  /// Finds something, preferably one thing. An error that it throws becomes a problem.
  let examine: @Sendable (CheckedSetup) async throws -> [Finding]

  func findings(_ setup: CheckedSetup) async -> [Finding] {
    do {
      return try await examine(setup)
    } catch {
      guard let error = error as? CacheError, error.code == .locked else { return .problem(error) }
      // A locked collection has been reported.
      guard case .itemsLocked = error.underlyingError as? SecretServiceError else { return [] }
      return .warning(error.message, advice: error.toolAdvice)
    }
  }
}

/// What the checks examine: a store, its options and the environment.
struct CheckedSetup: Sendable {
  let options: StoreOptions
  let store: any CacheStore
  let environment = processEnvironment()
  /// Also connects to a service that refuses to encrypt; no secret is sent to that one.
  let client = SecretServiceClient(timeout: .seconds(10), allowsPlainSession: true)
  let now = Date()
}

struct Finding: Sendable {
  enum State: String, Encodable, Comparable, CaseIterable {
    case ok
    /// It was a problem or a warning that `--fix` fixed.
    case fixed
    case warning
    case problem

    static func < (one: State, other: State) -> Bool { allCases.prefix { $0 != other }.contains(one) }
  }

  /// What `--fix` does about a finding.
  enum Remedy: Sendable {
    /// Loses nothing, so it is applied without confirmation.
    case safe(@Sendable () async throws -> Void)
    /// Removes or accepts entries after confirmation.
    case removal(UnreadableEntries)
  }

  let state: State
  /// One sentence without secrets.
  let message: String
  /// What to do next, if possible the command.
  var advice: String?
  var remedy: Remedy?
}

extension [Finding] {
  static func ok(_ message: String) -> Self { [Finding(state: .ok, message: message)] }

  static func warning(_ message: String, advice: String?) -> Self {
    [Finding(state: .warning, message: message, advice: advice)]
  }

  static func problem(_ message: String, advice: String?, remedy: Finding.Remedy? = nil) -> Self {
    [Finding(state: .problem, message: message, advice: advice, remedy: remedy)]
  }

  /// Returns a finding that `--fix` fixes with `remedy`, which must be safe without confirmation.
  static func fixable(
    _ state: Finding.State, _ message: String, with remedy: @escaping @Sendable () async throws -> Void
  ) -> Self {
    [Finding(state: state, message: message, remedy: .safe(remedy))]
  }

  static func problem(_ error: any Error, advice: String? = nil) -> Self {
    switch error {
    case let error as SecretServiceError: .problem(error.description, advice: advice ?? error.advice)
    case let error as any ToolError:
      .problem(error.asFailure.message, advice: advice ?? error.asFailure.advice)
    default: .problem("\(error)", advice: advice)
    }
  }

  /// Checks the owner and the mode of a file or directory, if it exists. The advice is about a link or another user's file.
  static func ofAccess(to path: String, advice: String) -> Self {
    guard let status = FileStatus(path) else { return [] }
    guard status.isOwn, status.isDirectory || status.isRegular else {
      return .problem("\(path) is a link or belongs to another user.", advice: advice)
    }
    guard status.mode & 0o077 != 0 else { return [] }
    return .fixable(.problem, "\(path) is open to others, and is not used for that reason.") {
      let mode = FileStatus(path)?.mode ?? 0
      try FileManager.default.setAttributes([.posixPermissions: mode & 0o700], ofItemAtPath: path)
    }
  }
}
