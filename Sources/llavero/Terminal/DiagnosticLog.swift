import FoundationEssentials
import Logging

/// The log of `--verbose` and `LLAVERO_LOG`, on standard error. The libraries log no token, and mask personal data.
struct DiagnosticLog: LogHandler {
  static let logger = {
    guard let level = Terminal.isVerbose ? .debug : Settings.current.log else {
      return Logger(label: "llavero", factory: { _ in SwiftLogNoOpLogHandler() })
    }
    return Logger(label: "llavero", factory: { _ in DiagnosticLog(logLevel: level) })
  }()

  var metadata: Logger.Metadata = [:]
  var logLevel: Logger.Level

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let details = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
    let words = ["\(Date().formatted(.iso8601)) \(event.level): \(event.message)"]
    Terminal.error(printable((words + details.map { "\($0.key)=\($0.value)" }).joined(separator: " ")))
  }
}
