public import Foundation
import Synchronization

/// Has no effect: ``MSALTelemetryConfig/telemetryCallback`` is never called.
public typealias MSALTelemetryCallback = @Sendable ([String: String]) -> Void

/// Has no effect: nothing is reported of requests. The properties keep what they are set to.
public final class MSALTelemetryConfig: NSObject, Sendable {
  private struct Values {
    var piiEnabled = false
    var notifyOnFailureOnly = false
  }

  private let values = Mutex(Values())

  override init() {}

  /// Has no effect. It keeps what it is set to.
  public var piiEnabled: Bool {
    get { values.withLock { $0.piiEnabled } }
    set { values.withLock { $0.piiEnabled = newValue } }
  }

  /// Has no effect. It keeps what it is set to.
  public var notifyOnFailureOnly: Bool {
    get { values.withLock { $0.notifyOnFailureOnly } }
    set { values.withLock { $0.notifyOnFailureOnly = newValue } }
  }

  /// Has no effect and is always `nil`: what is set is not kept, since it would never be called.
  public var telemetryCallback: MSALTelemetryCallback? {
    get { nil }
    set {}
  }
}
