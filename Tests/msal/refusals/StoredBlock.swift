// Swift 6 refuses: main actor-isolated property 'text' can not be mutated from a Sendable closure
import MSAL

@MainActor
final class Window {
  var text = ""

  func block() -> MSALCompletionBlock {
    { result, _ in self.text = result?.accessToken ?? "" }
  }
}
