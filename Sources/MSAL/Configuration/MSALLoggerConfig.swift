public import Foundation
import IdentityClient
import Logging
import Synchronization

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

  /// What is masked; everything that could lead to a person unless set. It is read for every message.
  public var logMaskingLevel: MSALLogMaskingLevel {
    get { values.withLock { $0.masking } }
    set { values.withLock { $0.masking = newValue } }
  }

  /// Sets what is told of everything from now on, in place of an earlier callback. It is called on a queue of
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
