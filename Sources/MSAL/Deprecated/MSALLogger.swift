public import Foundation

/// What is logged, as MSAL before 0.7 called it.
@available(*, deprecated, message: "Use MSALGlobalConfig.loggerConfig.")
public final class MSALLogger: NSObject, Sendable {
  private static let only = MSALLogger()

  /// The only one.
  public static func shared() -> MSALLogger { only }

  override private init() {}

  /// How much is logged.
  public var level: MSALLogLevel {
    get { MSALGlobalConfig.loggerConfig.logLevel }
    set { MSALGlobalConfig.loggerConfig.logLevel = newValue }
  }

  /// Whether what could lead to a person stands in the log.
  public var piiLoggingEnabled: Bool {
    get { MSALGlobalConfig.loggerConfig.piiEnabled }
    set { MSALGlobalConfig.loggerConfig.piiEnabled = newValue }
  }

  /// Sets what is told of everything from now on, as ``MSALLoggerConfig/setLogCallback(_:)`` does.
  @preconcurrency
  public func setCallback(_ callback: @escaping MSALLogCallback) {
    MSALGlobalConfig.loggerConfig.setLogCallback(callback)
  }
}
