import GLibSupport
import Logging

/// Writes to the application's log, never secrets. Personal data is masked unless the configuration allows it.
struct ClientLog: Sendable {
  let logger: Logger
  let showsPersonalData: Bool

  func callAsFunction(
    _ level: Logger.Level, _ message: Logger.Message, _ metadata: @autoclosure () -> Logger.Metadata = [:]
  ) {
    logger.log(level: level, message, metadata: metadata())
  }

  /// Returns a value that names a person or an organisation, masked unless that is allowed.
  func personal(_ value: String?) -> Logger.MetadataValue {
    guard let value else { return "none" }
    // The text comes from a server or a cache, and a handler may write to a terminal.
    return showsPersonalData ? .stringConvertible(PersonalText(value.printable())) : "(masked)"
  }

  /// Returns the reason of a failure, masked where it may name someone. The text of a server or broker may name a
  /// person, that of a transport the server, and some of our own the authority and thereby the tenant.
  func reason(_ error: IdentityError) -> Logger.MetadataValue {
    let isOwn =
      error.oauthErrorDescription == nil && error.transportError == nil && error.brokerStatus == nil
      && ![.brokerFailed, .noBroker, .authorityValidationFailed, .invalidParameter].contains(error.code)
    return isOwn ? "\(error.message)" : personal(error.message)
  }

  /// Returns the `error` of a server or broker. It may be any text, so it is masked unless it has the form of an OAuth
  /// error.
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
