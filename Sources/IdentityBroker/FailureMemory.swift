import FoundationEssentials
import GLibSupport
import IdentityClient
import TokenCache

/// Remembers for all processes of the user that a broker failed, so that not each of them waits for one that hangs.
///
/// It is a file in the runtime directory, whose time of modification is that of the failure. Where there can be
/// no such file nothing is remembered, and an invalid file counts as missing. An instance is a run of the broker, as
/// ``BrokerConnection/instance(hasEnded:_:)`` names it.
struct FailureMemory: Sendable {
  /// For how long a broker that failed is not asked again, in seconds.
  static let pause = 180.0
  static let name = "broker-failure"

  let directory: String
  let now: @Sendable () -> Date

  func remember(_ error: IdentityError, of instance: String) {
    guard (try? checkOwner(ofParentOf: directory)) != nil,
      let directory = try? PrivateDirectory.made(at: directory)
    else { return }
    try? directory.write(Array("\(instance)\n\(error.message)".utf8), to: Self.name)
  }

  /// Forgets the failure, of whatever instance.
  func forget() { try? PrivateDirectory.existing(at: directory)?.remove(Self.name) }

  /// The failure of a while ago, if it was this instance's. The instance is asked for only where a failure is remembered at all.
  func failure(of instance: () -> String?) -> IdentityError? {
    guard let directory = try? PrivateDirectory.existing(at: directory),
      let file = try? directory.read(Self.name, limit: 4096),
      let time = directory.modification(of: Self.name),
      case let age = now().timeIntervalSince1970 - time, age >= 0, age < Self.pause
    else { return nil }
    let lines = String(decoding: file, as: UTF8.self).split(separator: "\n", maxSplits: 1).map(String.init)
    guard lines.count == 2, let text = Optional(lines[1].withoutTokens.printable()).nonBlank,
      instance() == lines[0]
    else { return nil }
    var error = IdentityError.brokerFailed("")
    (error.message, error.isThrottled) = (text, true)
    return error
  }
}
