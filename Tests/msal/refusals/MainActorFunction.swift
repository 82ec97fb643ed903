// Swift 6 refuses: loses global actor 'MainActor'
import MSAL

@MainActor func show(_ level: MSALLogLevel, _ message: String?, _ containsPII: Bool) {}

@MainActor func listen() {
  MSALGlobalConfig.loggerConfig.setLogCallback(show)
}
