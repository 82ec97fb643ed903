import Logging

/// Writes to the application's log. Secrets never get here; personal data is masked unless the application
/// wants to see it.
struct ClientLog: Sendable {
  let logger: Logger
  let showsPersonalData: Bool

  func callAsFunction(
    _ level: Logger.Level, _ message: Logger.Message, _ metadata: @autoclosure () -> Logger.Metadata = [:]
  ) {
    logger.log(level: level, message, metadata: metadata())
  }

  /// A value that names a person or an organisation, masked unless it may be seen.
  func personal(_ value: String?) -> Logger.MetadataValue {
    guard let value else { return "none" }
    // The text comes from a server or a cache, and a handler may write to a terminal.
    return showsPersonalData ? .stringConvertible(PersonalText(value.printable())) : "(masked)"
  }

  /// Why something failed. The words of a server or a broker may name a person, those of a transport the server, and some of
  /// our own the authority, and so the tenant.
  func reason(_ error: IdentityError) -> Logger.MetadataValue {
    let isOwn =
      error.oauthErrorDescription == nil && error.transportError == nil && error.brokerStatus == nil
      && ![.brokerFailed, .noBroker, .authorityValidationFailed, .invalidParameter].contains(error.code)
    return isOwn ? "\(error.message)" : personal(error.message)
  }

  /// The `error` of a server or a broker: masked, as it may be any text, unless it is a word as OAuth has them.
  func word(_ error: String?) -> Logger.MetadataValue {
    guard let error else { return "none" }
    let isWord = error.utf8.count <= 64 && error.allSatisfy { $0 == "_" || $0.isASCII && $0.isLetter }
    return isWord ? "\(error)" : personal(error)
  }
}

/// A value of a log message that names a person or an organisation, for handlers that treat such messages apart.
package struct PersonalText: CustomStringConvertible, Sendable {
  package let description: String

  init(_ text: String) { description = text }
}
