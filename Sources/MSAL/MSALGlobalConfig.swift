public import Foundation
import IdentityClient
import Logging
import Synchronization

/// The settings of all applications of the process. They are read for each request.
public final class MSALGlobalConfig: MSALObject, @unchecked Sendable {
  // `@unchecked Sendable`: see `MSALObject`.
  /// How requests are sent.
  public static let httpConfig = MSALHTTPConfig()
  /// Has no effect: no telemetry is sent.
  public static let telemetryConfig = MSALTelemetryConfig()
  /// The logger's configuration.
  public static let loggerConfig = MSALLoggerConfig()

  /// Whether applications get tokens from the machine's identity broker. It applies to those with a redirect URI for a
  /// broker; see ``MSALRedirectUri/brokerCapable``.
  public static var brokerAvailability: MSALBrokeredAvailability {
    get { availability.withLock { $0 } }
    set { availability.withLock { $0 = newValue } }
  }

  private static let availability = Mutex(MSALBrokeredAvailability.auto)

  override private init() {}
}

/// Whether the identity broker is used, if there is one and the redirect URI is for a broker.
public enum MSALBrokeredAvailability: Int, Sendable {
  case auto = 0
  case none = 1
}

/// The configuration of HTTP. It is read for each request.
public final class MSALHTTPConfig: MSALObject, @unchecked Sendable {
  private struct Values {
    var retryCount = 1
    var retryInterval: TimeInterval = 0.5
    var timeoutIntervalForRequest: TimeInterval = 300
    var certificateAuthorities: URL?
  }

  private let values = Mutex(Values())

  override init() {}

  /// Limits a time to the range from zero to a day.
  private static func bounded(_ seconds: TimeInterval) -> TimeInterval { min(max(0, seconds), 86_400) }

  /// How often a failed request is repeated (default: 1).
  public var retryCount: Int {
    get { values.withLock { $0.retryCount } }
    set { values.withLock { $0.retryCount = max(0, newValue) } }
  }

  /// The pause before a repetition in seconds (default: 0.5).
  public var retryInterval: TimeInterval {
    get { values.withLock { $0.retryInterval } }
    set { values.withLock { $0.retryInterval = Self.bounded(newValue) } }
  }

  /// The timeout of a request with its repetitions in seconds (default: 300).
  public var timeoutIntervalForRequest: TimeInterval {
    get { values.withLock { $0.timeoutIntervalForRequest } }
    set { values.withLock { $0.timeoutIntervalForRequest = Self.bounded(newValue) } }
  }

  /// A file of CA certificates (PEM) to trust instead of the system's. A program with its own transport has to set them
  /// there.
  /// MSAL for iOS and macOS has no counterpart.
  public var certificateAuthorities: URL? {
    get { values.withLock { $0.certificateAuthorities } }
    set { values.withLock { $0.certificateAuthorities = newValue } }
  }
}

/// Receives log messages: the level, the text with the time and the request's correlation id, and whether it has personal data.
public typealias MSALLogCallback = @Sendable (MSALLogLevel, String?, Bool) -> Void

/// The logger's configuration. Without a callback nothing is logged.
public final class MSALLoggerConfig: MSALObject, @unchecked Sendable {
  private struct Values {
    var level = MSALLogLevel.info
    var masking = MSALLogMaskingLevel.settingsMaskAllPII
    var callback: MSALLogCallback?
  }

  private let values = Mutex(Values())
  private let queue = DispatchQueue(label: "llavero.msal.log")

  override init() {}

  /// The most detailed level that is logged (default: `.info`).
  public var logLevel: MSALLogLevel {
    get { values.withLock { $0.level } }
    set { values.withLock { $0.level = newValue } }
  }

  /// What is masked (default: all personal data). It is read for every message.
  public var logMaskingLevel: MSALLogMaskingLevel {
    get { values.withLock { $0.masking } }
    set { values.withLock { $0.masking = newValue } }
  }

  /// Sets the callback for all log messages from now on, in place of an earlier one. It is called on the
  /// library's queue, one call after the other, never on the main thread: a callback that uses the window has to switch to
  /// it.
  @preconcurrency
  public func setLogCallback(_ callback: @escaping MSALLogCallback) {
    values.withLock { $0.callback = callback }
  }

  /// The callback, or one that does nothing.
  public func callback() -> MSALLogCallback {
    let nothing: MSALLogCallback = { _, _, _ in }
    return values.withLock { $0.callback } ?? nothing
  }

  func log(_ level: MSALLogLevel, _ message: String, containsPII: Bool) {
    guard let callback = callback(for: level) else { return }
    queue.async { callback(level, message, containsPII) }
  }

  /// The callback, if messages of a level are logged.
  fileprivate func callback(for level: MSALLogLevel) -> MSALLogCallback? {
    values.withLock { level.rawValue <= $0.level.rawValue ? $0.callback : nil }
  }

  func logger() -> Logger { Logger(label: "MSAL") { _ in LogForwarder(config: self) } }
}

/// Passes messages to the current callback, with the current masking.
private struct LogForwarder: LogHandler {
  let config: MSALLoggerConfig
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.trace

  init(config: MSALLoggerConfig) { self.config = config }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  /// In MSAL's format but for the thread: the version, the time, and the correlation id of the request that it is about.
  func log(event: LogEvent) {
    let level = MSALLogLevel(event.level)
    guard config.callback(for: level) != nil else { return }
    var metadata = metadata.merging(event.metadata ?? [:]) { _, new in new }
    let correlation = metadata.removeValue(forKey: "correlation").map { " - \($0)" } ?? ""
    let origin = "MSAL \(Library.version) Linux [\(Date().formatted(.iso8601))\(correlation)]"
    let isMasked = config.logMaskingLevel != .settingsMaskSecretsOnly
    var containsPII = false
    let details = metadata.sorted { $0.key < $1.key }.map { key, value in
      guard case .stringConvertible(let text) = value, text is PersonalText else { return " \(key)=\(value)" }
      containsPII = containsPII || !isMasked
      return isMasked ? " \(key)=(masked)" : " \(key)=\(text)"
    }.joined()
    config.log(level, "\(origin) \(event.message)\(details)", containsPII: containsPII)
  }
}

/// The levels of log messages.
public enum MSALLogLevel: Int, Sendable {
  case nothing = 0
  case error = 1
  case warning = 2
  case info = 3
  case verbose = 4

  /// The most detailed level.
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

/// What is masked in the log. Tokens and other secrets are never logged.
public enum MSALLogMaskingLevel: Int, Sendable {
  /// All personal data.
  case settingsMaskAllPII = 0
  /// On Linux the same as ``settingsMaskAllPII``: names of users are not distinguished from other personal data, such as
  /// account ids and server messages.
  case settingsMaskEUIIOnly = 1
  /// Secrets only: account ids and server messages are logged.
  case settingsMaskSecretsOnly = 2
}
