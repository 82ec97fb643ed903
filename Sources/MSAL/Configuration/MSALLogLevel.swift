import Logging

/// How much is logged.
public enum MSALLogLevel: Int, Sendable {
  case nothing = 0
  case error = 1
  case warning = 2
  case info = 3
  case verbose = 4

  /// The one that says most.
  public static var last: MSALLogLevel { .verbose }

  init(_ level: Logger.Level) {
    self =
      switch level {
      case .trace, .debug: .verbose
      case .info, .notice: .info
      case .warning: .warning
      case .error, .critical: .error
      }
  }
}
