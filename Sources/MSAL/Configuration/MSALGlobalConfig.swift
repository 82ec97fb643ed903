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

  /// Whether applications get tokens from the machine's identity broker. It counts for those with a redirect URI for a
  /// broker; see ``MSALRedirectUri/brokerCapable``.
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
