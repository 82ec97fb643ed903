import MSAL
import Testing

extension ApplicationTests {
  /// The defaults of configurations and parameters.
  struct DefaultsTests {
    @Test func `A configuration has Apple's defaults`() {
      let config = MSALPublicClientApplicationConfig(clientId: "11111111-2222-4333-8444-555555555555")
      #expect(config.authority is MSALAADAuthority)
      #expect(config.authority.url.absoluteString == "https://login.microsoftonline.com/common")
      #expect(config.redirectUri == nil)
      #expect(config.tokenExpirationBuffer == 300)
      #expect(!config.extendedLifetimeEnabled && !config.multipleCloudsSupported)
      #expect(!config.bypassRedirectURIValidation)
      #expect(config.knownAuthorities.isEmpty)
      #expect(config.clientApplicationCapabilities == nil && config.sliceConfig == nil)
      #expect(config.cacheConfig.keychainSharingGroup == "com.microsoft.identity.universalstorage")
      #expect(MSALCacheConfig.defaultKeychainSharingGroup() == "com.microsoft.identity.universalstorage")
      #expect(config.cacheConfig.store == nil && config.cacheConfig.externalAccountProviders.isEmpty)
    }

    @Test func `Parameters have Apple's defaults`() {
      let interactive = MSALInteractiveTokenParameters.userRead()
      #expect(interactive.promptType == .promptIfNecessary)
      #expect(interactive.preferredAuthMethod == .none)
      #expect(interactive.completionBlockQueue == nil)
      #expect(interactive.authenticationScheme is MSALAuthenticationSchemeBearer)
      #expect(interactive.correlationId == nil && interactive.webviewParameters.webviewType == .default)

      #expect(MSALAccountEnumerationParameters().returnOnlySignedInAccounts)
      let signOut = MSALSignoutParameters(webviewParameters: MSALWebviewParameters())
      #expect(!signOut.signoutFromBrowser && !signOut.wipeAccount && !signOut.wipeCacheForAllAccounts)
    }

    @Test func `Webview parameters are copied`() {
      let webview = MSALWebviewParameters()
      let parameters = MSALInteractiveTokenParameters(scopes: ["user.read"], webviewParameters: webview)
      webview.webviewType = .wkWebView
      #expect(parameters.webviewParameters.webviewType == .default)
    }

    @Test func `Webview parameters do not retain their view controller`() {
      final class Controller {
        var parameters: MSALWebviewParameters?
      }
      weak var gone: Controller?
      do {
        let controller = Controller()
        controller.parameters = MSALWebviewParameters(authPresentationViewController: controller)
        #expect(controller.parameters?.parentViewController === controller)
        gone = controller
      }
      #expect(gone == nil)
    }

    @Test func `Settings of the process have Apple's defaults`() {
      #expect(MSALGlobalConfig.httpConfig.retryCount == 1)
      #expect(MSALGlobalConfig.httpConfig.retryInterval == 0.5)
      #expect(MSALGlobalConfig.httpConfig.timeoutIntervalForRequest == 300)
      #expect(MSALGlobalConfig.brokerAvailability == .auto)
      #expect(MSALGlobalConfig.loggerConfig.logMaskingLevel == .settingsMaskAllPII)
    }

    @Test func `The configuration of an application is copied`() throws {
      let config = MSALPublicClientApplicationConfig(clientId: "11111111-2222-4333-8444-555555555555")
      config.cacheConfig.keychainSharingGroup = "com.example.office"
      let application = try MSALPublicClientApplication(configuration: config)
      config.clientId = "another"
      config.cacheConfig.keychainSharingGroup = "com.example.another"
      application.configuration.redirectUri = "another://redirect"
      #expect(application.configuration.clientId == "11111111-2222-4333-8444-555555555555")
      #expect(application.configuration.cacheConfig.keychainSharingGroup == "com.example.office")
      #expect(application.configuration.redirectUri == nil)
    }

    @Test func `Linux is an ordinary device`() async throws {
      let application = try MSALPublicClientApplication.test(FakeEntra())
      #expect(try await application.deviceInformation(with: nil).deviceMode == .default)
      let error = try await failure { try await application.wpjMetaDataDevice(with: nil, forTenantId: nil) }
      #expect(error.domain == MSALErrorDomain)
      #expect(error.internalCode == MSALInternalError.internalBrokerNotAvailable.rawValue)
    }
  }
}
