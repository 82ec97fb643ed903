public import Foundation

/// What is logged, as MSAL before 0.7 called it.
@available(*, deprecated, message: "Use MSALGlobalConfig.loggerConfig.")
public final class MSALLogger: NSObject, Sendable {
  private static let only = MSALLogger()

  public static func shared() -> MSALLogger { only }

  override private init() {}

  public var level: MSALLogLevel {
    get { MSALGlobalConfig.loggerConfig.logLevel }
    set { MSALGlobalConfig.loggerConfig.logLevel = newValue }
  }

  public var piiLoggingEnabled: Bool {
    get { MSALGlobalConfig.loggerConfig.piiEnabled }
    set { MSALGlobalConfig.loggerConfig.piiEnabled = newValue }
  }

  public func setCallback(_ callback: @escaping MSALLogCallback) {
    MSALGlobalConfig.loggerConfig.setLogCallback(callback)
  }
}
