// The Objective-C header has no nullability annotations, so Swift code on Apple's systems sees these
// constants as implicitly unwrapped. Code that unwraps them must compile here, too.

// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals

/// The domain of this library's errors. Their codes are those of ``MSALError``.
public let MSALErrorDomain: String! = "MSALErrorDomain"

/// The `error` of the server's response (RFC 6749 section 5.2), such as `invalid_grant`; a `String`.
public let MSALOAuthErrorKey: String! = "MSALOAuthErrorKey"

/// The `suberror` of the server's response, such as `bad_token`; a `String`.
public let MSALOAuthSubErrorKey: String! = "MSALOAuthSubErrorKey"

/// The meaning of a suberror; a `String`. Only Microsoft's broker fills it in.
public let MSALOAuthSubErrorDescriptionKey: String! = "MSALOAuthSubErrorDescriptionKey"

/// What happened, for developers; a `String`. The same text as in `NSLocalizedDescriptionKey`, or the server's
/// own, which may contain personal data.
public let MSALErrorDescriptionKey: String! = "MSALErrorDescriptionKey"

/// The numbers of the server's `AADSTS` errors; an array of `NSNumber`.
public let MSALSTSErrorCodesKey: String! = "MSALSTSErrorCodesKey"

/// The raw value of an ``MSALInternalError``, or of an ``MSALError`` that is not reported as such; an
/// `NSNumber`. It comes with the code ``MSALError/internal`` and is for logs, not for decisions.
public let MSALInternalErrorCodeKey: String! = "MSALInternalErrorCodeKey"

/// The header fields of the server's response; a `[String: String]`.
public let MSALHTTPHeadersKey: String! = "MSALHTTPHeadersKey"

/// The id under which the server's logs know the request; a `String`.
public let MSALCorrelationIDKey: String! = "MSALCorrelationIDKey"

/// The status of the server's response in decimal digits; a `String`.
public let MSALHTTPResponseCodeKey: String! = "MSALHTTPResponseCodeKey"

/// The requested scopes that were not granted; an array of `String`.
public let MSALDeclinedScopesKey: String! = "MSALDeclinedScopesKey"

/// The user name of the account that an error is about; a `String`, personal data. It is set if the request or the server names
/// an account.
public let MSALDisplayableUserIdKey: String! = "MSALDisplayableUserIdKey"

/// The scopes that were granted although others were not; an array of `String`.
public let MSALGrantedScopesKey: String! = "MSALGrantedScopesKey"

/// The tokens that were obtained although something was declined; an ``MSALResult``.
public let MSALInvalidResultKey: String! = "MSALInvalidResultKey"

/// The version of the identity broker that refused, if known; a `String`.
public let MSALBrokerVersionKey: String! = "MSALBrokerVersionKey"

/// The home account id of the account that an error is about; a `String`. It is set if the request or the server names an
/// account, and when ``MSALPublicClientApplication/account(forIdentifier:)`` finds none.
public let MSALHomeAccountIdKey: String! = "MSALHomeAccountIdKey"

/// Set to 1 when the request was not sent because the server had responded with the same error shortly before.
public let MSALThrottlingCacheHitKey: String! = "MSALThrottlingCacheHitKey"

/// The claims that the next sign-in has to request, as the JSON that ``MSALClaimsRequest`` reads; a `String`.
/// MSAL for iOS and macOS has no counterpart.
public let MSALClaimsKey: String! = "MSALClaimsKey"
