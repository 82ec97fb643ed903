/// Takes a token, or why there is none.
public typealias MSALCompletionBlock = (MSALResult?, (any Error)?) -> Void
/// Takes accounts, or why they cannot be listed.
public typealias MSALAccountsCompletionBlock = ([MSALAccount]?, (any Error)?) -> Void
/// Takes the account that is signed in, the one that was signed in before, or why nobody can tell.
public typealias MSALCurrentAccountCompletionBlock = (MSALAccount?, MSALAccount?, (any Error)?) -> Void
/// Takes whether an account was signed out, and why it was not.
public typealias MSALSignoutCompletionBlock = (Bool, (any Error)?) -> Void
/// Takes what is known of the device.
public typealias MSALDeviceInformationCompletionBlock = (MSALDeviceInformation?, (any Error)?) -> Void
/// Takes what is known of the device's registration, or why nothing is.
public typealias MSALWPJMetaDataCompletionBlock = (MSALWPJMetaData?, (any Error)?) -> Void
/// Takes a token of the device, or why there is none.
public typealias MSALDeviceTokenResultCompletionBlock = (MSALDeviceTokenResult?, (any Error)?) -> Void
