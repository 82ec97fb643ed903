// Swift 6 refuses: loses global actor 'MainActor'
import MSAL

@MainActor func show(_ result: MSALResult?, _ error: (any Error)?) {}

@MainActor func refresh(_ application: MSALPublicClientApplication, _ parameters: MSALSilentTokenParameters) {
  application.acquireTokenSilent(with: parameters, completionBlock: show)
}
