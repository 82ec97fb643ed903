public import Foundation
import Logging
import Synchronization

/// Told what the library does: how important it is, what it is, and whether it may name a person.
public typealias MSALLogCallback = (MSALLogLevel, String?, Bool) -> Void

/// What is logged, and where: nowhere unless a callback is set.
public final class MSALLoggerConfig: NSObject, Sendable {
  /// The program's callback. It is called on one serial queue only, so that no two calls overlap.
  private struct Callback: @unchecked Sendable {
    let call: MSALLogCallback
  }

  private struct Values {
    var level = MSALLogLevel.info
    var masking = MSALLogMaskingLevel.settingsMaskAllPII
    var callback: Callback?
  }

  private let values = Mutex(Values())
  private let queue = DispatchQueue(label: "llavero.msal.log")

  override init() {}

  /// How much is logged; `.info` unless set.
  public var logLevel: MSALLogLevel {
    get { values.withLock { $0.level } }
    set { values.withLock { $0.level = newValue } }
  }

  /// What is masked; everything that could lead to a person unless set. Applications read it when they are
  /// made.
  public var logMaskingLevel: MSALLogMaskingLevel {
    get { values.withLock { $0.masking } }
    set { values.withLock { $0.masking = newValue } }
  }

  /// Sets what is told of everything from now on, in place of an earlier callback. It is called on a queue of
  /// the library's, one call after the other.
  public func setLogCallback(_ callback: @escaping MSALLogCallback) {
    let callback = Callback(call: callback)
    values.withLock { $0.callback = callback }
  }

  /// The callback that was set, or one that does nothing.
  public func callback() -> MSALLogCallback {
    values.withLock { $0.callback }?.call ?? { _, _, _ in }
  }

  func log(_ level: MSALLogLevel, _ message: String, containsPII: Bool) {
    let values = values.withLock { $0 }
    guard let callback = values.callback, level.rawValue <= values.level.rawValue else { return }
    queue.async { callback.call(level, message, containsPII) }
  }

  /// A logger whose messages come here.
  func logger() -> Logger {
    let mayContainPII = logMaskingLevel != .settingsMaskAllPII
    return Logger(label: "MSAL") { _ in LogForwarder(config: self, containsPII: mayContainPII) }
  }
}

/// Hands the messages of a logger to the callback that is set at that time.
private struct LogForwarder: LogHandler {
  let config: MSALLoggerConfig
  let containsPII: Bool
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.trace

  init(config: MSALLoggerConfig, containsPII: Bool) {
    self.config = config
    self.containsPII = containsPII
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let metadata = metadata.merging(event.metadata ?? [:]) { _, new in new }
    let details = metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
    config.log(MSALLogLevel(event.level), "\(event.message)\(details)", containsPII: containsPII)
  }
}
