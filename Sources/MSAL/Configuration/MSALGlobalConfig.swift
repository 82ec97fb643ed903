public import Foundation
import Synchronization

/// What holds for all applications of the process. Applications read it when they are made.
public final class MSALGlobalConfig: NSObject, Sendable {
  /// How requests are sent.
  public static let httpConfig = MSALHTTPConfig()
  /// What is reported of requests: nothing on Linux.
  public static let telemetryConfig = MSALTelemetryConfig()
  /// What is logged, and where.
  public static let loggerConfig = MSALLoggerConfig()

  /// Of Microsoft's broker; without effect on Linux.
  public static var brokerAvailability: MSALBrokeredAvailability {
    get { values.withLock { $0.brokerAvailability } }
    set { values.withLock { $0.brokerAvailability = newValue } }
  }

  /// Of refresh tokens that are bound to a device; without effect on Linux.
  public static var shouldRequestBoundAppRefreshTokens: Bool {
    get { values.withLock { $0.requestsBoundRefreshTokens } }
    set { values.withLock { $0.requestsBoundRefreshTokens = newValue } }
  }

  private struct Values {
    var brokerAvailability = MSALBrokeredAvailability.auto
    var requestsBoundRefreshTokens = false
  }

  private static let values = Mutex(Values())

  override private init() {}
}
