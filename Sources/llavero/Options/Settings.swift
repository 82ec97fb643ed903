// Every file of the tool that knows a store or a record needs it.
@_exported import Configuration
import GLibSupport
import Synchronization

extension Settings {
  private static let ignoresUnknown = Atomic(false)

  /// Makes ``current`` accept unknown settings, for the commands that repair a configuration.
  static func ignoreUnknown() { ignoresUnknown.store(true, ordering: .sequentiallyConsistent) }

  /// The settings of this process, or why they are invalid.
  static let loaded = Result<Settings, ConfigurationError>(
    calling: try Settings(environment: processEnvironment()))

  /// The settings of this process. An invalid configuration ends it.
  static let current: Settings = {
    do throws(ConfigurationError) {
      let settings = try loaded.get()
      if let unknown = settings.unknown, !ignoresUnknown.load(ordering: .sequentiallyConsistent) {
        throw unknown
      }
      return settings
    } catch {
      Failure.exit(with: error.asFailure)
    }
  }()
}

extension ConfigurationError: ToolError {
  var asFailure: Failure {
    Failure(name, message, code: .usage, advice: advice)
  }
}
