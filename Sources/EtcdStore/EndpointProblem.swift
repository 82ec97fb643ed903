import HTTPSupport
import TokenCache

/// Why one endpoint gave no answer that is of use.
struct EndpointProblem: Error {
  let cause: EtcdFailure.Cause
  /// A sentence that names the endpoint.
  let reason: String
  /// Whether the request may have been carried out.
  let isUnanswered: Bool
  /// Whether the others would say the same.
  let isFinal: Bool
  /// Whether nobody is there at all, or somebody else.
  let isUnreachable: Bool
  /// Whether it may be otherwise a moment later.
  let mayPass: Bool
  /// Whether the member may be one that is being started.
  let mayComeBack: Bool

  /// An answer that is of no use.
  init(_ cause: EtcdFailure.Cause, at endpoint: EtcdEndpoint, isUnanswered: Bool) {
    self.cause = cause
    self.isUnanswered = isUnanswered
    switch cause {
    case .password, .otherCluster, .answerTooLarge: isFinal = true
    default: isFinal = false
    }
    isUnreachable = false
    mayPass = false
    mayComeBack = false
    reason = "\(endpoint) gives answers that make no sense."
  }

  init(_ error: HTTPTransportError, at endpoint: EtcdEndpoint) {
    var (isFinal, isUnreachable, isUnanswered) = (false, false, true)
    let cause: EtcdFailure.Cause
    switch error {
    case .cancelled:
      cause = .cancelled
      isFinal = true
    case .responseTooLarge:
      cause = .answerTooLarge
      isFinal = true
    case .timedOut: cause = .timedOut([])
    case .malformedResponse: cause = .malformed("what came is no HTTP")
    case .connectionLost(let text): cause = .timedOut([text])
    case .invalidConfiguration(let text), .invalidRequest(let text), .cannotFindHost(let text),
      .untrustedServer(let text):
      cause = .unreachable([text])
      (isUnreachable, isUnanswered) = (true, false)
    case .cannotConnect(let text):
      // Without TLS nobody knows how far it came.
      cause = .unreachable([text])
      isUnreachable = true
    }
    self.cause = cause
    self.isFinal = isFinal
    self.isUnreachable = isUnreachable
    self.isUnanswered = isUnanswered
    switch cause {
    case .timedOut(let texts): reason = texts.first.map(Self.sentence) ?? "\(endpoint) kept silent."
    case .unreachable(let texts): reason = Self.sentence(texts.first ?? "\(endpoint) cannot be reached")
    default: reason = "\(endpoint) gives answers that make no sense."
    }
    if case .timedOut = cause { mayPass = true } else { mayPass = false }
    if case .cannotConnect = error { mayComeBack = true } else { mayComeBack = false }
  }

  /// What etcd says in place of an answer: the code of gRPC and a text.
  init(error: JSONObject, at endpoint: EtcdEndpoint) {
    let code: Int64 = if case .integer(let code)? = error["code"] { code } else { 2 }
    let message = (error["error"] ?? error["message"])?.stringValue ?? ""
    cause = .refused(code: code, message: message)
    // No leader, a change of leaders, a member that ends; too much to do.
    mayPass = [1, 2, 4, 10, 13, 14].contains(code) || message.contains("too many requests")
    isUnanswered = mayPass
    isFinal = !mayPass
    isUnreachable = false
    mayComeBack = false
    reason = Self.sentence("\(endpoint): \(EtcdFailure.printable(message))")
  }

  private static func sentence(_ text: String) -> String { text.hasSuffix(".") ? text : text + "." }

  /// Whether the token is no longer of use, or one is wanted by now.
  var isStaleToken: Bool {
    guard case .refused(let code, let message) = cause else { return false }
    return code == 16 || message.contains("user name is empty") || message.contains("auth store is old")
  }

  var saysThatNobodyIsAsked: Bool {
    guard case .refused(_, let message) = cause else { return false }
    return message.contains("authentication is not enabled")
  }
}
