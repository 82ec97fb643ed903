public import Foundation
import Synchronization

/// Told what became of requests, by name.
public typealias MSALTelemetryCallback = ([String: String]) -> Void

/// What is reported of requests. On Linux nothing is: the properties keep what they are set to, and the callback
/// is never called.
public final class MSALTelemetryConfig: NSObject, Sendable {
  private struct Values {
    var piiEnabled = false
    var notifyOnFailureOnly = false
  }

  private let values = Mutex(Values())

  override init() {}

  public var piiEnabled: Bool {
    get { values.withLock { $0.piiEnabled } }
    set { values.withLock { $0.piiEnabled = newValue } }
  }

  public var notifyOnFailureOnly: Bool {
    get { values.withLock { $0.notifyOnFailureOnly } }
    set { values.withLock { $0.notifyOnFailureOnly = newValue } }
  }

  /// Always `nil`: what is set is not kept, since it would never be called.
  public var telemetryCallback: MSALTelemetryCallback? {
    get { nil }
    set {}
  }
}
