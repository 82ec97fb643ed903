public import FoundationEssentials
import GLibSupport
public import HTTPSupport
public import TokenCache

/// Why a token could not be got, or an account not be signed out.
public struct IdentityError: LocalizedError, Sendable, CustomStringConvertible {
  /// The kinds of failure that a program can act on.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The person has to sign in, to consent or to prove who they are.
    case interactionRequired = "interaction_required"
    /// The server granted less than was asked for. The result is there all the same.
    case serverDeclinedScopes = "server_declined_scopes"
    /// The application must be under the protection policies of its organisation.
    case serverProtectionPoliciesRequired = "server_protection_policies_required"
    /// The person declined or closed the sign-in.
    case userCanceled = "user_canceled"
    /// The server failed or is overloaded.
    case serverError = "server_error"
    /// The device must be registered with the organisation (AADSTS50129). A silent request that is refused so throws
    /// ``interactionRequired``, as for every other demand that the server has of the person.
    case workplaceJoinRequired = "workplace_join_required"
    /// The device does not meet the organisation's demands.
    case insufficientDeviceStrength = "insufficient_device_strength"
    /// The server wants the password to be reset (AADSTS50142).
    case resetPasswordRequired = "reset_password_required"
    /// A parameter is invalid.
    case invalidParameter = "invalid_parameter"
    /// No program is registered for the scheme of the redirect URI.
    case redirectSchemeNotRegistered = "redirect_scheme_not_registered"
    /// The redirect URI cannot be used.
    case invalidRedirectURI = "invalid_redirect_uri"
    case invalidRequest = "invalid_request"
    case invalidClient = "invalid_client"
    case invalidGrant = "invalid_grant"
    case invalidScope = "invalid_scope"
    case unauthorizedClient = "unauthorized_client"
    /// An HTTP response that cannot be acted on.
    case unhandledResponse = "unhandled_response"
    case unexpected
    /// An HTTP status that does not belong there.
    case unexpectedHTTPResponse = "unexpected_http_response"
    /// The authority is unknown, or its metadata contradicts it.
    case authorityValidationFailed = "authority_validation_failed"
    /// Another account signed in than the requested one. Nothing was stored.
    case mismatchedUser = "mismatched_user"
    case ambiguousAccount = "ambiguous_account"
    /// The server refused for another reason; see ``IdentityError/oauthError``.
    case authorizationFailed = "authorization_failed"
    case accountRequired = "account_required"
    case accountNotFound = "account_not_found"
    /// Another sign-in of this client waits for its browser.
    case interactiveSessionAlreadyRunning = "interactive_session_already_running"
    /// The client was made without a means to open a browser.
    case noAuthenticator = "no_authenticator"
    /// There is no browser, or it cannot be started.
    case browserUnavailable = "browser_unavailable"
    /// The browser's response cannot be listened for, such as because the port is taken.
    case listenerFailed = "listener_failed"
    /// The response belongs to another request.
    case invalidState = "invalid_state"
    /// The response is incomplete or contradictory.
    case invalidResponse = "invalid_response"
    case nonHttpsRedirect = "non_https_redirect"
    /// The sign-in was not finished in time.
    case timedOut = "timed_out"
    /// The task was cancelled.
    case cancelled
    /// The device code was not entered in time.
    case deviceCodeExpired = "device_code_expired"
    /// No response came; see ``IdentityError/transportError``.
    case network
    /// The broker that ``BrokerPolicy/required`` demands is not available.
    case noBroker = "no_broker"
    /// The broker failed: it did not respond, or not validly.
    case brokerFailed = "broker_failed"
    /// The token cache failed; see ``IdentityError/cacheError``.
    case cache
  }

  public var code: Code
  /// What happened, in a sentence without secrets.
  public var message: String
  /// What to do about it, in a sentence.
  public var advice: String? {
    get { ownAdvice ?? code.advice }
    set { ownAdvice = newValue }
  }
  /// The advice of this very error, which may know more than its code does.
  package private(set) var ownAdvice: String?
  /// `error` of an OAuth response.
  public var oauthError: String?
  /// `suberror` of an OAuth response.
  public var subError: String?
  /// `error_description` of an OAuth response, without control characters. It may name the user.
  public var oauthErrorDescription: String?
  /// `error_codes` of an OAuth response: the numbers after AADSTS.
  public var stsErrorCodes: [Int] = []
  public var httpStatus: Int?
  /// The header fields of the response, those that carry no secret.
  public var httpHeaders: [String: String] = [:]
  public var correlationID: UUID?
  /// The claims that the next sign-in has to ask for, as JSON.
  public var claims: String?
  public var grantedScopes: [String] = []
  public var declinedScopes: [String] = []
  /// What was got in spite of the error.
  public var result: AuthenticationResult?
  public var transportError: HTTPTransportError?
  /// The address from which no response came, without its query.
  public var failedURL: URL?
  public var cacheError: CacheError?
  /// Whether the server was not asked, because it answered with this error shortly before.
  public var isThrottled = false
  /// The account that the error is about, where there is one.
  public var homeAccountID: String?
  /// The user name of that account: personal data.
  public var displayableID: String?
  /// The version of the broker that refused, where it is known.
  public var brokerVersion: String?
  /// Whether a sign-in here does not help: the tokens are a lender's, and the sign-in has to happen there.
  package var mustBeResolvedByLender = false
  /// Whether a lender could not be reached, or went away before the end of its response.
  package var isLenderGone = false
  /// The status by which a broker refused, 0 where it gave none; `nil` when no broker reported one.
  package var brokerStatus: Int?

  public init(_ code: Code, _ message: String, advice: String? = nil) {
    self.code = code
    self.message = message
    ownAdvice = advice
  }

  public var description: String { sentences(message, advice) }
  public var errorDescription: String? { description }
}

extension IdentityError {
  package static let cancelled = IdentityError(.cancelled, "The request was cancelled.")

  init(cache error: CacheError) {
    guard error.code != .cancelled else {
      self = .cancelled
      return
    }
    self.init(.cache, error.message, advice: error.advice)
    cacheError = error
  }

  package init(transport error: HTTPTransportError) {
    if error == .cancelled {
      self = .cancelled
    } else {
      self.init(.network, error.description, advice: error.advice)
    }
    transportError = error
  }

  /// The error with the correlation id of its request, and with the request's account unless it is about another one.
  func completed(_ correlationID: UUID, _ account: Account?) -> IdentityError {
    var error = self
    error.correlationID = error.correlationID ?? correlationID
    guard let account = result?.account ?? account,
      homeAccountID == nil ? displayableID == nil : homeAccountID == account.homeAccountID
    else { return error }
    error.homeAccountID = account.homeAccountID
    error.displayableID = displayableID ?? account.username
    return error
  }
}

/// Runs a call of the cache, and reports its failure as the client does.
func cacheCall<T>(_ body: () async throws(CacheError) -> T) async throws(IdentityError) -> T {
  do throws(CacheError) {
    return try await body()
  } catch {
    throw IdentityError(cache: error)
  }
}
