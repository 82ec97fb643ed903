import GLibSupport
import HTTPSupport
import StoreSupport
import TokenCache

/// Why a request to etcd failed.
package struct EtcdFailure: Error {
  enum Cause: Sendable {
    /// etcd's own error, with its gRPC code.
    case refused(code: Int64, message: String)
    /// None of the endpoints responded; a sentence for each.
    case unreachable([String])
    /// Some of the endpoints responded that they cannot now, or too late.
    case timedOut([String])
    case cancelled
    /// A clause that says what is wrong with the response.
    case malformed(String)
    /// More than was to be taken in one response.
    case responseTooLarge
    /// The endpoints do not belong together.
    case otherCluster(endpoint: String)
    /// An endpoint is behind what was seen before.
    case behind(endpoint: String)
    /// There is no password.
    case password(CacheError)
  }

  let cause: Cause
  /// Whether etcd may have carried the request out all the same.
  var outcomeIsUnknown = false
  /// A sentence that names the endpoint, for the failure of one.
  var reason = ""
  /// Whether the endpoint may be a member that is being started.
  var mayBeRestarting = false

  static func malformed(_ reason: String) -> EtcdFailure { EtcdFailure(cause: .malformed(reason)) }

  /// Where the network or the cluster is down, why the endpoints did not respond, without the conclusion that none can be reached.
  package var outageReason: String? {
    switch cause {
    case .unreachable(let reasons), .timedOut(let reasons): reasons.joined(separator: " ")
    default: nil
    }
  }

  /// Whether the other endpoints would fail in the same way.
  var isFinal: Bool {
    switch cause {
    case .password, .otherCluster, .responseTooLarge, .cancelled: true
    case .refused: !isTransient
    case .unreachable, .timedOut, .malformed, .behind: false
    }
  }

  /// Whether no etcd responds at the endpoint.
  var isUnreachable: Bool { if case .unreachable = cause { true } else { false } }

  /// Whether the same endpoint may respond a moment later.
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
    if case .refused(16, _) = cause { return true }
    return refuses("user name is empty") || refuses("auth store is old")
  }

  var isAuthenticationDisabled: Bool { refuses("authentication is not enabled") }

  var isLeaseNotFound: Bool { refuses("lease not found") }

  private func refuses(_ words: String) -> Bool {
    if case .refused(_, let message) = cause { message.contains(words) } else { false }
  }

  /// Whether a smaller page may be taken.
  var isTooLarge: Bool {
    switch cause {
    case .responseTooLarge: true
    case .refused(let code, let message): code == 8 && message.contains("larger than max")
    default: false
    }
  }

  /// What it is to the store's users.
  var cacheError: CacheError { outcomeIsUnknown ? explanation.withUnknownOutcome : explanation }

  private var explanation: CacheError {
    func error(_ code: CacheError.Code, _ message: String, _ advice: String? = nil) -> CacheError {
      CacheError(
        code, message, advice: advice, underlyingError: self, leavesOutcomeOpen: outcomeIsUnknown)
    }
    switch cause {
    case .refused(let code, let message):
      let meaning = Self.explanation(of: code, message)
      return error(meaning.0, meaning.1, meaning.advice)
    case .unreachable(let reasons):
      return error(
        .unavailable, sentences(["No endpoint of etcd can be reached."] + reasons),
        "Check that etcd runs there (\"etcdctl endpoint health\"), and the names, ports and certificates.")
    case .timedOut(let reasons):
      return error(
        .timedOut, sentences(["etcd did not respond in time."] + reasons),
        "A cluster needs more than half of its members: \"etcdctl endpoint status --cluster\" shows them.")
    case .cancelled: return error(.cancelled, "The call to etcd was cancelled.")
    case .malformed(let reason):
      return error(
        .refused, "etcd's response is invalid: \(reason).",
        "Check whether something else responds at its endpoints, such as a proxy.")
    case .responseTooLarge:
      return error(
        .refused, "etcd's response exceeds the 8 MiB limit.", "Check what responds at its endpoints.")
    case .otherCluster(let endpoint):
      return error(
        .refused,
        "The endpoint \(endpoint) belongs to another cluster than the others, or to one that was recreated.",
        "Name endpoints of one cluster. If it was restored from a backup, start this program again.")
    case .behind(let endpoint):
      return error(
        .rolledBack,
        "The endpoint \(endpoint) has an older state of etcd than the one that was seen before.",
        "If etcd was set back, start this program again. If not, remove that member and add it again.")
    case .password(let failure): return error(failure.code, failure.message, failure.advice)
    }
  }

  /// What the messages of etcd 3.4 and 3.5 mean, by what is in them.
  private static let refusals: [(phrases: [String], CacheError.Code, String, advice: String)] = [
    (
      ["database space exceeded"], .tooLarge, "etcd's database is full (NOSPACE) and accepts no writes.",
      "Nothing was lost. Compact and defragment it, then \"etcdctl alarm disarm\"; or raise --quota-backend-bytes."
    ),
    (
      ["request is too large", "larger than max"], .tooLarge,
      "The change is larger than one etcd request may be.",
      "Keep fewer accounts in a group, remove expired tokens, or raise etcd's --max-request-bytes."
    ),
    (
      ["too many operations"], .tooLarge, "The change touches more values than one etcd transaction may.",
      "Change fewer at a time, or set etcd's --max-txn-ops to its default of 128 at least."
    ),
    (["compacted"], .timedOut, "The revision that was being read was compacted meanwhile.", "Try again."),
    (
      ["permission denied"], .refused, "etcd's user has no right to the store's prefix.",
      "Check the prefix, or run \"etcdctl role grant-permission ROLE readwrite --prefix=true PREFIX/\"."
    ),
    (["invalid user ID or password"], .wrongKey, "etcd rejected the user name or password.", "Check both."),
    (
      ["user name is empty", "user name not found"], .refused, "etcd requires a user.",
      "Name the user, and where its password comes from."
    ),
  ]

  /// The codes are gRPC's.
  private static func explanation(
    of code: Int64, _ message: String
  ) -> (CacheError.Code, String, advice: String?) {
    func refusal(_ message: String) -> (CacheError.Code, String, advice: String?)? {
      refusals.first { $0.phrases.contains(where: message.contains) }.map { ($0.1, $0.2, $0.advice) }
    }
    if let known = refusal(message) ?? (code == 16 ? refusal("user name not found") : nil) { return known }
    if message.contains("alarm") || message.contains("corrupt") {
      return (
        .refused, "etcd has raised an alarm: \(message.printable(limit: 200)).",
        "\"etcdctl alarm list\" says more."
      )
    }
    return (.refused, "etcd refused: \(message.printable(limit: 200)).", "Its own log says more.")
  }
}

extension EtcdFailure {
  /// A response of one endpoint that cannot be used.
  init(_ cause: Cause, at endpoint: EtcdEndpoint, outcomeIsUnknown: Bool) {
    self.init(cause: cause, outcomeIsUnknown: outcomeIsUnknown)
    reason = "\(endpoint) gives invalid responses."
  }

  /// An endpoint that gave no response.
  init(_ error: HTTPTransportError, at endpoint: EtcdEndpoint) {
    switch error {
    case .cancelled: self.init(.cancelled, at: endpoint, outcomeIsUnknown: true)
    case .responseTooLarge: self.init(.responseTooLarge, at: endpoint, outcomeIsUnknown: true)
    case .malformedResponse:
      self.init(.malformed("it is not HTTP"), at: endpoint, outcomeIsUnknown: true)
    case .timedOut:
      self.init(cause: .timedOut([]), outcomeIsUnknown: true)
      reason = "\(endpoint) did not respond."
    case .connectionLost(let text):
      self.init(cause: .timedOut([text]), outcomeIsUnknown: true)
      reason = sentences(text)
    case .invalidConfiguration(let text), .invalidRequest(let text), .notConnected(let text),
      .cannotFindHost(let text), .untrustedServer(let text):
      self.init(cause: .unreachable([text]))
      reason = sentences(text)
    case .cannotConnect(let text), .secureConnectionFailed(let text):
      // Without TLS it is not known how far it came.
      self.init(cause: .unreachable([text]), outcomeIsUnknown: true)
      reason = sentences(text)
      mayBeRestarting = true
    }
  }

  /// etcd's own error: a gRPC code and a text.
  init(error: JSONObject, at endpoint: EtcdEndpoint) {
    let code: Int64 = if case .integer(let code)? = error["code"] { code } else { 2 }
    let message = (error["error"] ?? error["message"])?.stringValue ?? ""
    let cause = Cause.refused(code: code, message: message)
    self.init(cause: cause, outcomeIsUnknown: EtcdFailure(cause: cause).isTransient)
    reason = sentences("\(endpoint): \(message.printable(limit: 200))")
  }
}
