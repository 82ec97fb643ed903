import FoundationEssentials
import GLibSupport
import SecretService
import TokenCache

/// One thing that `llavero doctor` looks at. It prompts for nothing and changes nothing.
protocol Check: Sendable {
  /// What is looked at, as a stable name for programs.
  static var name: String { get }

  /// The findings, preferably one. An error that it throws is a problem.
  func examine(_ patient: Patient) async throws -> [Finding]
}

extension Check {
  /// The findings, also where the check could not be made.
  func findings(_ patient: Patient) async -> [Finding] {
    do {
      return try await examine(patient)
    } catch {
      guard let error = error as? CacheError, error.code == .locked else { return [.problem(error)] }
      // A locked collection has been reported.
      guard case .itemsLocked = error.underlyingError as? SecretServiceError else { return [] }
      return [.warning(error.message, advice: error.toolAdvice)]
    }
  }
}

/// What the checks look at.
struct Patient: Sendable {
  let options: StoreOptions
  let store: any CacheStore
  let environment = processEnvironment()
  /// Looks at a service that refuses to encrypt, too; no secret is sent to that one.
  let client = SecretServiceClient(timeout: .seconds(10), allowsPlainSession: true)
  let now = Date()

  /// A command of the tool on the same store, as a shell takes it.
  func command(_ words: String...) -> String {
    "llavero " + words.map(shellQuoted).joined(separator: " ") + options.repeated
  }
}

/// What a check found.
struct Finding: Sendable {
  enum State: String, Encodable, Comparable, CaseIterable {
    case ok
    /// It was a problem or a warning, and `--fix` put it right.
    case mended
    case warning
    case problem

    static func < (one: State, other: State) -> Bool {
      (allCases.firstIndex(of: one) ?? 0) < (allCases.firstIndex(of: other) ?? 0)
    }
  }

  private(set) var state: State
  /// One sentence without secrets.
  let message: String
  /// What to do next, if possible the command.
  private(set) var advice: String?
  private let remedy: (@Sendable () async throws -> Void)?

  var canBeMended: Bool { remedy != nil }

  private init(
    _ state: State, _ message: String, advice: String?, remedy: (@Sendable () async throws -> Void)? = nil
  ) {
    self.state = state
    self.message = message
    self.advice = advice
    self.remedy = remedy
  }

  static func ok(_ message: String) -> Finding { Finding(.ok, message, advice: nil) }

  static func warning(_ message: String, advice: String?) -> Finding {
    Finding(.warning, message, advice: advice)
  }

  static func problem(_ message: String, advice: String?) -> Finding {
    Finding(.problem, message, advice: advice)
  }

  /// Something that `--fix` puts right by `remedy`, which must be safe to do unasked.
  static func mendable(
    _ state: State, _ message: String, by remedy: @escaping @Sendable () async throws -> Void
  ) -> Finding {
    Finding(state, message, advice: nil, remedy: remedy)
  }

  static func problem(_ error: any Error, advice: String? = nil) -> Finding {
    switch error {
    case let error as SecretServiceError: .problem(error.description, advice: advice ?? error.advice)
    case let error as CacheError: .problem(error.message, advice: advice ?? error.toolAdvice)
    default: .problem("\(error)", advice: advice)
    }
  }

  /// The finding after its remedy was applied, where it has one.
  func mended() async -> Finding {
    guard let remedy else { return self }
    do {
      try await remedy()
      return Finding(.mended, message, advice: nil)
    } catch {
      let reason = (error as? CacheError)?.message ?? "\(error)"
      return Finding(state, message, advice: "It could not be mended: \(reason)")
    }
  }
}
