import HTTPSupport
import TokenCache

/// Why etcd did not do what was asked.
package struct EtcdFailure: Error {
  enum Cause: Equatable {
    /// etcd's own answer, with the code that gRPC gives it.
    case refused(code: Int64, message: String)
    /// None of the endpoints answered; a sentence for each.
    case unreachable([String])
    /// Some of the endpoints answered that they cannot now, or too late.
    case timedOut([String])
    case cancelled
    /// A clause that says what is wrong with the answer.
    case malformed(String)
    /// More than was to be taken in one answer.
    case answerTooLarge
    /// The endpoints do not belong together.
    case otherCluster(endpoint: String)
    /// An endpoint is behind what was seen before.
    case behind(endpoint: String)
    /// The password cannot be had.
    case password(CacheError.Code, String, advice: String?)
  }

  let cause: Cause
  /// Whether etcd may have carried the request out all the same.
  let outcomeIsUnknown: Bool
  /// A sentence that names the endpoint, for the failure of one.
  var reason = ""
  /// Whether the endpoint may be a member that is being started.
  var mayBeRestarting = false

  static func malformed(_ reason: String) -> EtcdFailure { EtcdFailure(cause: .malformed(reason)) }

  static let cancelled = EtcdFailure(cause: .cancelled, outcomeIsUnknown: true)

  init(cause: Cause, outcomeIsUnknown: Bool = false) {
    self.cause = cause
    self.outcomeIsUnknown = outcomeIsUnknown
  }

  /// Whether the network or the cluster is down.
  package var isOutage: Bool { outageReason != nil }

  /// Why those that were asked did not answer, without the conclusion that none can be reached.
  package var outageReason: String? {
    switch cause {
    case .unreachable(let reasons), .timedOut(let reasons): Self.list(reasons)
    default: nil
    }
  }

  /// Whether the other endpoints would fail in the same way.
  var isFinal: Bool {
    switch cause {
    case .password, .otherCluster, .answerTooLarge, .cancelled: true
    case .refused: !isTransient
    case .unreachable, .timedOut, .malformed, .behind: false
    }
  }

  /// Whether no etcd answers at the endpoint.
  var isUnreachable: Bool { if case .unreachable = cause { true } else { false } }

  /// Whether the same endpoint may answer a moment later.
  var isTransient: Bool {
    switch cause {
    case .timedOut: true
    // No leader, a change of leaders, a member that ends; too much to do.
    case .refused(let code, let message):
      [1, 2, 4, 10, 13, 14].contains(code) || message.contains("too many requests")
    default: false
    }
  }

  /// Whether the user's token is no longer valid, or one is required by now.
  var isStaleToken: Bool {
    guard case .refused(let code, let message) = cause else { return false }
    return code == 16 || message.contains("user name is empty") || message.contains("auth store is old")
  }

  var isAuthenticationDisabled: Bool {
    guard case .refused(_, let message) = cause else { return false }
    return message.contains("authentication is not enabled")
  }

  var isLeaseNotFound: Bool {
    guard case .refused(_, let message) = cause else { return false }
    return message.contains("lease not found")
  }

  /// Whether a smaller page may be taken.
  var isTooLarge: Bool {
    switch cause {
    case .answerTooLarge: true
    case .refused(let code, let message): code == 8 && message.contains("larger than max")
    default: false
    }
  }

  /// What it is to the store's users. Where something may have happened that the caller cannot know of, the error
  /// says so.
  func cacheError(writing: Bool) -> CacheError {
    let (code, message, advice) = explanation
    let unknown = "Nobody can tell whether it was written: look before you do it again."
    let told = writing && outcomeIsUnknown ? [message, unknown].joined(separator: " ") : message
    return CacheError(code, told, advice: advice, underlyingError: self)
  }

  private var explanation: (CacheError.Code, String, advice: String?) {
    switch cause {
    case .refused(let code, let message): Self.explanation(of: code, message)
    case .unreachable(let reasons):
      (
        .unavailable, "No endpoint of etcd can be reached. " + Self.list(reasons),
        "Look whether etcd runs there (\"etcdctl endpoint health\"), and at the names, ports and certificates."
      )
    case .timedOut(let reasons):
      (
        .timedOut, "etcd did not do it in time. " + Self.list(reasons),
        "A cluster needs more than half of its members: \"etcdctl endpoint status --cluster\" shows them."
      )
    case .cancelled: (.cancelled, "The call to etcd was cancelled.", nil)
    case .malformed(let reason):
      (
        .refused, "etcd's answer makes no sense: \(reason).",
        "Look whether something else answers at its endpoints, such as a proxy."
      )
    case .answerTooLarge:
      (.refused, "etcd's answer is larger than any that it gives.", "Look what answers at its endpoints.")
    case .otherCluster(let endpoint):
      (
        .refused,
        "The endpoint \(endpoint) belongs to another cluster than the others, or to one that was made anew.",
        "Name endpoints of one cluster. If it was restored from a backup, start this program again."
      )
    case .behind(let endpoint):
      (
        .rolledBack,
        "The endpoint \(endpoint) gives an older state of etcd than the one that was seen before.",
        "If etcd was set back, start this program again. If not, take that member out and make it anew."
      )
    case .password(let code, let message, let advice): (code, message, advice)
    }
  }

  private static func list(_ reasons: [String]) -> String { reasons.joined(separator: " ") }

  /// The codes are gRPC's; the messages are those of etcd 3.4 and 3.5.
  private static func explanation(
    of code: Int64, _ message: String
  ) -> (CacheError.Code, String, advice: String?) {
    func says(_ words: String) -> Bool { message.contains(words) }
    if says("database space exceeded") {
      return (
        .tooLarge, "etcd's database is full (NOSPACE), and takes no more writes.",
        "Nothing was lost. Compact and defragment it, then \"etcdctl alarm disarm\"; or raise --quota-backend-bytes."
      )
    }
    if says("request is too large") || says("larger than max") {
      return (
        .tooLarge, "The change is larger than etcd takes at once.",
        "Keep fewer accounts in a group, remove tokens that have expired, or raise etcd's --max-request-bytes."
      )
    }
    if says("too many operations") {
      return (
        .tooLarge, "The change touches more values than etcd takes at once.",
        "Change fewer at a time, or set etcd's --max-txn-ops to its default of 128 at least."
      )
    }
    if says("compacted") {
      return (.timedOut, "What was being read was compacted away meanwhile.", "Try again.")
    }
    if says("permission denied") {
      return (
        .refused, "etcd's user has no right to the store's prefix.",
        "Look at the prefix. Or \"etcdctl role grant-permission ROLE readwrite --prefix=true PREFIX/\" gives the right."
      )
    }
    if says("invalid user ID or password") {
      return (.wrongKey, "etcd does not take the user's name and password.", "Look at both.")
    }
    if says("user name is empty") || says("user name not found") || code == 16 {
      return (.refused, "etcd asks for a user.", "Name the user, and where its password comes from.")
    }
    if says("alarm") || says("corrupt") {
      return (
        .refused, "etcd has raised an alarm: \(printable(message)).", "\"etcdctl alarm list\" says more."
      )
    }
    return (.refused, "etcd refused: \(printable(message)).", "Its own log says more.")
  }

  /// A message as it may be shown: it comes from the network.
  static func printable(_ text: String) -> String {
    String(
      text.unicodeScalars.prefix(200).map {
        $0.isASCII && $0.value >= 0x20 && $0.value != 0x7f ? Character($0) : "?"
      })
  }
}

extension EtcdFailure {
  /// An answer of one endpoint that is of no use.
  init(_ cause: Cause, at endpoint: EtcdEndpoint, outcomeIsUnknown: Bool) {
    self.init(cause: cause, outcomeIsUnknown: outcomeIsUnknown)
    reason = "\(endpoint) gives answers that make no sense."
  }

  /// An endpoint that gave no answer.
  init(_ error: HTTPTransportError, at endpoint: EtcdEndpoint) {
    switch error {
    case .cancelled: self.init(.cancelled, at: endpoint, outcomeIsUnknown: true)
    case .responseTooLarge: self.init(.answerTooLarge, at: endpoint, outcomeIsUnknown: true)
    case .malformedResponse:
      self.init(.malformed("what came is no HTTP"), at: endpoint, outcomeIsUnknown: true)
    case .timedOut:
      self.init(cause: .timedOut([]), outcomeIsUnknown: true)
      reason = "\(endpoint) kept silent."
    case .connectionLost(let text):
      self.init(cause: .timedOut([text]), outcomeIsUnknown: true)
      reason = Self.sentence(text)
    case .invalidConfiguration(let text), .invalidRequest(let text), .cannotFindHost(let text),
      .untrustedServer(let text):
      self.init(cause: .unreachable([text]))
      reason = Self.sentence(text)
    case .cannotConnect(let text):
      // Without TLS nobody knows how far it came.
      self.init(cause: .unreachable([text]), outcomeIsUnknown: true)
      reason = Self.sentence(text)
      mayBeRestarting = true
    }
  }

  /// What etcd says in place of an answer: the code of gRPC and a text.
  init(error: JSONObject, at endpoint: EtcdEndpoint) {
    let code: Int64 = if case .integer(let code)? = error["code"] { code } else { 2 }
    let message = (error["error"] ?? error["message"])?.stringValue ?? ""
    let cause = Cause.refused(code: code, message: message)
    self.init(cause: cause, outcomeIsUnknown: EtcdFailure(cause: cause).isTransient)
    reason = Self.sentence("\(endpoint): \(Self.printable(message))")
  }

  private static func sentence(_ text: String) -> String { text.hasSuffix(".") ? text : text + "." }
}
