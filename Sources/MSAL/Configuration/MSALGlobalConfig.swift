public import Foundation
import Synchronization

/// What holds for all applications of the process. Applications read it when they make a request.
public final class MSALGlobalConfig: NSObject, Sendable {
  /// How requests are sent.
  public static let httpConfig = MSALHTTPConfig()
  /// Has no effect: nothing is reported of requests.
  public static let telemetryConfig = MSALTelemetryConfig()
  /// What is logged, and where.
  public static let loggerConfig = MSALLoggerConfig()

  /// Of Microsoft's broker; without effect on Linux.
  public static var brokerAvailability: MSALBrokeredAvailability {
    get { values.withLock { $0.brokerAvailability } }
    set { values.withLock { $0.brokerAvailability = newValue } }
  }

  private struct Values {
    var brokerAvailability = MSALBrokeredAvailability.auto
  }

  private static let values = Mutex(Values())

  override private init() {}
}
