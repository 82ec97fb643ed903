public import FoundationEssentials
import GLibSupport
public import HTTPSupport
public import TokenCache

/// Why a token request, a sign-in or a sign-out failed.
///
/// For example:
///
/// ```swift
/// do throws(IdentityError) {
///   _ = try await client.acquireTokenSilent(request)
/// } catch where error.code == .interactionRequired {
///   // Start an interactive sign-in.
/// }
/// ```
public struct IdentityError: LocalizedError, Sendable, CustomStringConvertible {
  /// The kinds of failure that a program can act on.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The user has to sign in, consent or authenticate again.
    case interactionRequired = "interaction_required"
    /// The server granted only some scopes. ``IdentityError/result`` has the token.
    case serverDeclinedScopes = "server_declined_scopes"
    /// The organisation's app protection policies are required.
    case serverProtectionPoliciesRequired = "server_protection_policies_required"
    /// The user declined or closed the sign-in.
    case userCanceled = "user_canceled"
    /// The server failed or is overloaded.
    case serverError = "server_error"
    /// The device must be registered with the organisation (AADSTS50129). A silent request throws
    /// ``interactionRequired`` instead, as for every requirement that only a sign-in can meet.
    case workplaceJoinRequired = "workplace_join_required"
    /// The device does not comply with the organisation's policies.
    case insufficientDeviceStrength = "insufficient_device_strength"
    /// The server requires a password reset (AADSTS50142).
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
    /// An HTTP response that the client cannot handle.
    case unhandledResponse = "unhandled_response"
    case unexpected
    /// An unexpected HTTP status.
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
    /// The client has no ``WebAuthenticator``.
    case noAuthenticator = "no_authenticator"
    /// No browser was found, or it cannot be started.
    case browserUnavailable = "browser_unavailable"
    /// The listener for the browser's response cannot start, for example because its port is in use.
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
  /// What failed, in a sentence without secrets.
  public var message: String
  /// What to do about it, in a sentence.
  public var advice: String? {
    get { ownAdvice ?? code.advice }
    set { ownAdvice = newValue }
  }
  /// The advice for this error in particular, in place of that for its code.
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
  /// The header fields of the response, without secrets.
  public var httpHeaders: [String: String] = [:]
  public var correlationID: UUID?
  /// The claims to request at the next sign-in, as JSON.
  public var claims: String?
  public var grantedScopes: [String] = []
  public var declinedScopes: [String] = []
  /// The result, if the error came with one.
  public var result: AuthenticationResult?
  public var transportError: HTTPTransportError?
  /// The address that did not respond, without its query.
  public var failedURL: URL?
  public var cacheError: CacheError?
  /// Whether the error is one that the server returned shortly before, so that no request was sent.
  public var isThrottled = false
  /// The home account ID of the account that the error is about, if there is one.
  public var homeAccountID: String?
  /// The user name of that account: personal data.
  public var displayableID: String?
  /// The version of the broker that refused, if known.
  public var brokerVersion: String?
  /// Whether the tokens are borrowed, so that the sign-in has to happen at the lender.
  package var mustBeResolvedByLender = false
  /// Whether the lender could not be reached, or disconnected before the end of its response.
  package var isLenderGone = false
  /// The status of the broker's refusal; 0 if it had none, `nil` if no broker refused.
  package var brokerStatus: Int?

  public init(_ code: Code, _ message: String, advice: String? = nil) {
    self.code = code
    self.message = message
    ownAdvice = advice
  }

  public var description: String { sentences(message, advice) }
  public var errorDescription: String? { description }
}

extension IdentityError.Code {
  /// What errors of several codes mean alike to the tool, to a borrower and to a renewal.
  package enum Category: Sendable {
    /// A person has to act, mostly to sign in.
    case actionRequired
    case cancelled
    /// The network or the server is down: the same call may succeed later.
    case outage
    /// The caller passed something invalid.
    case invalidArgument
    case other
  }

  package var category: Category {
    switch self {
    case .interactionRequired, .serverDeclinedScopes, .serverProtectionPoliciesRequired,
      .workplaceJoinRequired, .insufficientDeviceStrength, .resetPasswordRequired, .accountRequired,
      .accountNotFound, .timedOut, .deviceCodeExpired:
      .actionRequired
    case .userCanceled, .cancelled: .cancelled
    case .network, .serverError, .unhandledResponse: .outage
    case .invalidParameter, .invalidRedirectURI: .invalidArgument
    case .redirectSchemeNotRegistered, .invalidRequest, .invalidClient, .invalidGrant, .invalidScope,
      .unauthorizedClient, .unexpected, .unexpectedHTTPResponse, .authorityValidationFailed, .mismatchedUser,
      .ambiguousAccount, .authorizationFailed, .interactiveSessionAlreadyRunning, .noAuthenticator,
      .browserUnavailable, .listenerFailed, .invalidState, .invalidResponse, .nonHttpsRedirect, .noBroker,
      .brokerFailed, .cache:
      .other
    }
  }
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

  /// Returns the error with the correlation ID and the account of its request, unless it has its own.
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

/// Makes a call of the cache, and throws its failure as an `IdentityError`.
func cacheCall<T>(_ call: @autoclosure () async throws(CacheError) -> T) async throws(IdentityError) -> T {
  do {
    return try await call()
  } catch {
    throw IdentityError(cache: error)
  }
}
