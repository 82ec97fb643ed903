public import Foundation
import Synchronization

/// How requests are sent. It is read whenever one is made.
public final class MSALHTTPConfig: NSObject, Sendable {
  private struct Values {
    var retryCount = 1
    var retryInterval: TimeInterval = 0.5
    var timeoutIntervalForRequest: TimeInterval = 300
    var certificateAuthorities: URL?
  }

  private let values = Mutex(Values())

  override init() {}

  /// Between nothing and a day, which stands for any longer time, infinity included.
  private static func bounded(_ seconds: TimeInterval) -> TimeInterval { min(max(0, seconds), 86_400) }

  /// How often a request that failed at the server or on the way is sent again; 1 unless set.
  public var retryCount: Int {
    get { values.withLock { $0.retryCount } }
    set { values.withLock { $0.retryCount = max(0, newValue) } }
  }

  /// How many seconds to wait before that; 0.5 unless set.
  public var retryInterval: TimeInterval {
    get { values.withLock { $0.retryInterval } }
    set { values.withLock { $0.retryInterval = Self.bounded(newValue) } }
  }

  /// How many seconds one request may take from beginning to end; 300 unless set.
  public var timeoutIntervalForRequest: TimeInterval {
    get { values.withLock { $0.timeoutIntervalForRequest } }
    set { values.withLock { $0.timeoutIntervalForRequest = Self.bounded(newValue) } }
  }

  /// A file with certificates (PEM) of the authorities to trust instead of the system's, for a network with
  /// an authority of its own. A program that gives its application a transport of its own has to see to them there.
  /// MSAL for iOS and macOS has nothing like it.
  public var certificateAuthorities: URL? {
    get { values.withLock { $0.certificateAuthorities } }
    set { values.withLock { $0.certificateAuthorities = newValue } }
  }
}
