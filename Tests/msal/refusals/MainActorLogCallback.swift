// Swift 6 refuses: main actor-isolated property 'text' can not be mutated from a Sendable closure
import MSAL

@MainActor
final class Window {
  var text = ""

  func listen() {
    MSALGlobalConfig.loggerConfig.setLogCallback { _, message, _ in self.text = message ?? "" }
  }
}
