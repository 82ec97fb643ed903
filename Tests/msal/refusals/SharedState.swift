// Swift 6 refuses: with non-Sendable type 'Lines' in a '@Sendable' closure
import MSAL

final class Lines {
  var all: [String] = []
}

func listen(_ lines: Lines) {
  MSALGlobalConfig.loggerConfig.setLogCallback { _, message, _ in lines.all.append(message ?? "") }
}
