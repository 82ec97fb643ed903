/// Takes a token, or why there is none.
public typealias MSALCompletionBlock = @Sendable (MSALResult?, (any Error)?) -> Void
/// Takes accounts, or why they cannot be listed.
public typealias MSALAccountsCompletionBlock = @Sendable ([MSALAccount]?, (any Error)?) -> Void
/// Takes the account that is signed in, the one that was signed in before, or why nobody can tell.
public typealias MSALCurrentAccountCompletionBlock =
  @Sendable (MSALAccount?, MSALAccount?, (any Error)?) -> Void
/// Takes whether an account was signed out, and why it was not.
public typealias MSALSignoutCompletionBlock = @Sendable (Bool, (any Error)?) -> Void
/// Takes what is known of the device.
public typealias MSALDeviceInformationCompletionBlock =
  @Sendable (MSALDeviceInformation?, (any Error)?) -> Void
/// Takes what is known of the device's registration, or why nothing is.
public typealias MSALWPJMetaDataCompletionBlock = @Sendable (MSALWPJMetaData?, (any Error)?) -> Void
/// Takes a token of the device, or why there is none.
public typealias MSALDeviceTokenResultCompletionBlock =
  @Sendable (MSALDeviceTokenResult?, (any Error)?) -> Void
