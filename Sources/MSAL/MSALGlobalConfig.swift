public import Foundation
import IdentityClient
import Logging
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

/// Whether the identity broker is used, where there is one and the redirect URI is one for a broker.
public enum MSALBrokeredAvailability: Int, Sendable {
  case auto = 0
  case none = 1
}

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
  /// an authority of its own. A program that gives its application a transport of its own has to set them there.
  /// MSAL for iOS and macOS has nothing like it.
  public var certificateAuthorities: URL? {
    get { values.withLock { $0.certificateAuthorities } }
    set { values.withLock { $0.certificateAuthorities = newValue } }
  }
}

/// Told what the library does: how important it is, what it is, and whether it names a person or an organization.
public typealias MSALLogCallback = @Sendable (MSALLogLevel, String?, Bool) -> Void

/// What is logged, and where: nowhere unless a callback is set.
public final class MSALLoggerConfig: NSObject, Sendable {
  private struct Values {
    var level = MSALLogLevel.info
    var masking = MSALLogMaskingLevel.settingsMaskAllPII
    var callback: MSALLogCallback?
  }

  private let values = Mutex(Values())
  private let queue = DispatchQueue(label: "llavero.msal.log")

  override init() {}

  /// How much is logged; `.info` unless set.
  public var logLevel: MSALLogLevel {
    get { values.withLock { $0.level } }
    set { values.withLock { $0.level = newValue } }
  }

  /// What is masked; all personal data unless set. It is read for every message.
  public var logMaskingLevel: MSALLogMaskingLevel {
    get { values.withLock { $0.masking } }
    set { values.withLock { $0.masking = newValue } }
  }

  /// Sets the callback for all log messages from now on, in place of an earlier one. It is called on a queue of
  /// the library's, one call after the other, and never on the main thread: a callback that touches the window has to get
  /// there by itself.
  @preconcurrency
  public func setLogCallback(_ callback: @escaping MSALLogCallback) {
    values.withLock { $0.callback = callback }
  }

  /// The callback that was set, or one that does nothing.
  public func callback() -> MSALLogCallback {
    let nothing: MSALLogCallback = { _, _, _ in }
    return values.withLock { $0.callback } ?? nothing
  }

  func log(_ level: MSALLogLevel, _ message: String, containsPII: Bool) {
    let values = values.withLock { $0 }
    guard let callback = values.callback, level.rawValue <= values.level.rawValue else { return }
    queue.async { callback(level, message, containsPII) }
  }

  /// A logger whose messages come here.
  func logger() -> Logger {
    Logger(label: "MSAL") { _ in LogForwarder(config: self) }
  }
}

/// Hands the messages of a logger to the callback that is set at that time, and masks what is to be masked then.
private struct LogForwarder: LogHandler {
  let config: MSALLoggerConfig
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.trace

  init(config: MSALLoggerConfig) {
    self.config = config
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let metadata = metadata.merging(event.metadata ?? [:]) { _, new in new }
    let isMasked = config.logMaskingLevel != .settingsMaskSecretsOnly
    var containsPII = false
    let details = metadata.sorted { $0.key < $1.key }.map { key, value in
      guard case .stringConvertible(let text) = value, text is PersonalText else { return " \(key)=\(value)" }
      containsPII = containsPII || !isMasked
      return isMasked ? " \(key)=(masked)" : " \(key)=\(text)"
    }.joined()
    config.log(MSALLogLevel(event.level), "\(event.message)\(details)", containsPII: containsPII)
  }
}

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

/// What is masked in the log. Tokens and other secrets never stand in it.
public enum MSALLogMaskingLevel: Int, Sendable {
  /// All personal data.
  case settingsMaskAllPII = 0
  /// On Linux the same as ``settingsMaskAllPII``: names of people are not distinguished from other personal data, such as
  /// account ids and what servers say.
  case settingsMaskEUIIOnly = 1
  /// Nothing but secrets: account ids, and what servers say, stand in the log.
  case settingsMaskSecretsOnly = 2
}
