// Builds without warnings.
import MSAL

@available(*, deprecated)
final class Dispatcher: NSObject, MSALTelemetryDispatcher {
  func dispatchEvent(_ events: [[String: String]]) {}
}

/// Properties and classes of MSAL 0.1 to 1, whose types were implicitly unwrapped at first.
@available(*, deprecated)
func describe(_ application: MSALPublicClientApplication, _ user: MSALUser) -> [String] {
  application.component = "mail"
  application.brokerAvailability = .none
  let dispatcher: any MSALDispatcher = Dispatcher()
  MSALTelemetry.sharedInstance().piiEnabled = false
  MSALTelemetry.sharedInstance().add(dispatcher, setTelemetryOnFailure: true)
  MSALTelemetry.sharedInstance().remove(dispatcher)
  MSALTelemetry.sharedInstance().removeAllDispatchers()
  let group: String? = application.keychainGroup
  let slice: [String: String]? = application.sliceParameters
  return [
    application.clientId, application.authority.url.absoluteString,
    application.redirectUri.url.absoluteString, group ?? "", "\(slice?.count ?? 0)",
    "\(application.expirationBuffer)", "\(application.extendedLifetimeEnabled)",
    application.clientCapabilities?.first ?? "", user.identityProvider,
  ]
}

@available(*, deprecated)
func parameters() -> MSALInteractiveTokenParameters {
  let parameters = MSALInteractiveTokenParameters(scopes: ["user.read"])
  parameters.parentViewController = nil
  parameters.presentationStyle = .formSheet
  parameters.webviewType = .wkWebView
  parameters.customWebview = nil
  return parameters
}
