public import FoundationEssentials
import GLibSupport

/// Why a text is no value of a setting or an option. The text itself is not quoted: it may be a secret, put there by mistake.
public struct InvalidValue: LocalizedError, Sendable, Hashable, CustomStringConvertible {
  /// What was expected, or what is wrong, as the end of a sentence.
  public let description: String
  public var errorDescription: String? { sentences("Invalid value: \(description)") }

  init(_ description: String) {
    // A library's sentence ends with a full stop, as the message will.
    self.description = description.last == "." ? String(description.dropLast()) : description
  }

  /// Throws for a path that begins with the user's directory as only a shell knows it.
  static func checkExpanded(_ path: some StringProtocol) throws(InvalidValue) {
    guard path != "~", !path.hasPrefix("~/") else {
      throw InvalidValue("the shell does not expand \"~\" here, use $HOME")
    }
  }
}

/// Why settings cannot be used.
public struct ConfigurationError: LocalizedError, Sendable, Hashable {
  /// A stable name for programs, such as `invalid_configuration`.
  public let name: String
  /// What happened, in a sentence without secrets.
  public let message: String
  /// What to do about it, in a sentence.
  public let advice: String?
  public var errorDescription: String? { sentences(message, advice) }

  public init(_ name: String, _ message: String, advice: String? = nil) {
    self.name = name
    self.message = message
    self.advice = advice
  }
}
