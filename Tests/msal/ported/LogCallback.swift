// Builds with the main actor as the default isolation.
import MSAL

/// Code of a module whose functions belong to the main actor unless they say otherwise.
class Journal {
  var lines: [String] = []

  func begin() {
    MSALGlobalConfig.loggerConfig.setLogCallback { level, message, containsPII in
      self.lines.append(message ?? "")
    }
  }
}

@MainActor
final class Window {
  var text = ""

  func listen() {
    MSALGlobalConfig.loggerConfig.setLogCallback { _, message, _ in self.text = message ?? "" }
  }
}
