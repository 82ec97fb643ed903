public import FoundationEssentials
import GLibSupport

/// Why settings, or a value of one, cannot be used.
public struct ConfigurationError: LocalizedError, Sendable, Hashable {
  /// A stable name for programs, such as `invalid_configuration`.
  public let name: String
  /// What happened, in a sentence without secrets.
  public let message: String
  /// What to do about it, in a sentence.
  public let advice: String?
  /// What was expected of a value, or is wrong with it, as the end of a sentence.
  package private(set) var reason: String?
  public var errorDescription: String? { sentences(message, advice) }

  public init(_ name: String, _ message: String, advice: String? = nil) {
    self.name = name
    self.message = message
    self.advice = advice
  }

  init(invalid message: String, advice: String? = nil) {
    self.init("invalid_configuration", message, advice: advice)
  }

  /// The error for a text that is no value of a setting or an option. The text is not quoted: it may be a secret, put there by
  /// mistake.
  init(value reason: String, of place: String = "value") {
    // A library's sentence ends with a full stop.
    let reason = reason.last == "." ? String(reason.dropLast()) : reason
    self.init(invalid: "Invalid \(place): \(reason).")
    self.reason = reason
  }

  /// Throws for a path that begins with the user's directory as only a shell knows it.
  static func checkExpanded(_ path: some StringProtocol) throws(ConfigurationError) {
    guard path != "~", !path.hasPrefix("~/") else {
      throw ConfigurationError(value: "the shell does not expand \"~\" here, use $HOME")
    }
  }
}
