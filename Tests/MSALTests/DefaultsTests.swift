import MSAL
import TestSupport
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
      #expect(!signOut.wipePeerCaches && !signOut.webviewParameters.prefersEphemeralWebBrowserSession)
      let account = MSALAccount(username: nil, homeAccountId: MSALAccountId(identifier: "uid.utid"))
      #expect(!MSALSilentTokenParameters(scopes: ["user.read"], account: account).forceRefresh)
      #expect(!MSALResult(accessToken: "a", account: account).extendedLifeTimeToken)
      #expect(MSALTenantProfile(identifier: nil, tenantId: "utid").isHomeTenantProfile)
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
      #expect(!MSALGlobalConfig.shouldRequestBoundAppRefreshTokens)
      let telemetry = MSALGlobalConfig.telemetryConfig
      #expect(!telemetry.piiEnabled && !telemetry.notifyOnFailureOnly)
    }

    @Test func `Tenant profiles and claims are equal by their values`() {
      let profiles = ["a", "a", "b"].map { MSALTenantProfile(identifier: $0, tenantId: "utid") }
      #expect(profiles[0] == profiles[1] && profiles[0] != profiles[2])
      let claims = ["a", "a", "b"].map { MSALIndividualClaimRequest(name: $0) }
      #expect(claims[0] == claims[1] && claims[0] != claims[2])
    }

    @available(*, deprecated)
    @Test func `Of several profiles of the home tenant the first counts`() {
      let profiles = ["a", "b"].map { MSALTenantProfile(identifier: $0, tenantId: $0, claims: ["name": $0]) }
      let account = MSALAccount(
        username: nil, homeAccountId: MSALAccountId(identifier: "uid.utid"), tenantProfiles: profiles)
      #expect(account.accountClaims?["name"] as? String == "a" && account.name == "a")
      #expect(MSALResult(accessToken: "a", account: account).tenantProfile == profiles[0])
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

    @available(*, deprecated)
    @Test func `An application has the properties of MSAL before 1`() throws {
      let config = MSALPublicClientApplicationConfig(clientId: "11111111-2222-4333-8444-555555555555")
      let plain = try MSALPublicClientApplication(configuration: config)
      #expect(plain.clientId == config.clientId && plain.authority == config.authority)
      #expect(plain.redirectUri.url.absoluteString == "http://localhost")
      #expect(plain.keychainGroup == MSALCacheConfig.defaultKeychainSharingGroup())
      #expect(plain.expirationBuffer == 300 && !plain.extendedLifetimeEnabled)
      #expect(plain.clientCapabilities == nil && plain.sliceParameters == nil && plain.validateAuthority)
      #expect(!MSALGlobalConfig.loggerConfig.piiEnabled)

      config.redirectUri = "msauth.com.example.mail://auth"
      config.tokenExpirationBuffer = -1
      config.sliceConfig = MSALSliceConfig(slice: "test", dc: nil)
      let application = try MSALPublicClientApplication(configuration: config)
      #expect(application.redirectUri.url.absoluteString == config.redirectUri)
      #expect(application.expirationBuffer == 0 && application.sliceParameters == ["slice": "test"])
      #expect(application.component == nil)

      let parameters = MSALInteractiveTokenParameters.userRead()
      parameters.parentViewController = config
      parameters.presentationStyle = .formSheet
      parameters.webviewType = .wkWebView
      parameters.customWebview = config
      let webview = parameters.webviewParameters
      #expect(webview.parentViewController === config && webview.customWebview as AnyObject? === config)
      #expect(webview.presentationStyle == .formSheet && webview.webviewType == .wkWebView)
    }

    @Test(
      arguments: [
        (.publicCloudInstance, "login.microsoftonline.com"), (.chinaCloudInstance, "login.chinacloudapi.cn"),
        (.germanyCloudInstance, "login.microsoftonline.de"),
        (.usGovernmentCloudInstance, "login.microsoftonline.us"),
        (.franceCloudInstance, "login.sovcloud-identity.fr"),
        (.delosCloudInstance, "login.sovcloud-identity.de"),
        (.govSGCloudInstance, "login.sovcloud-identity.sg"),
      ] as [(MSALAzureCloudInstance, String)])
    func `A cloud instance has its own cloud's host`(_ cloud: MSALAzureCloudInstance, _ host: String) throws {
      let authority = try MSALAADAuthority(
        cloudInstance: cloud, audienceType: .azureADMultipleOrgsAudience, rawTenant: nil)
      #expect(authority.url.host == host)
    }

    @Test(.fault("ADAL cache")) func `A provider for ADAL's cache is empty, and never calls its delegate`()
      async throws
    {
      final class Delegate: NSObject, MSALSerializedADALCacheProviderDelegate {
        func willAccessCache(_ cache: MSALSerializedADALCacheProvider) { Issue.record("willAccessCache") }
        func didAccessCache(_ cache: MSALSerializedADALCacheProvider) { Issue.record("didAccessCache") }
        func willWriteCache(_ cache: MSALSerializedADALCacheProvider) { Issue.record("willWriteCache") }
        func didWriteCache(_ cache: MSALSerializedADALCacheProvider) { Issue.record("didWriteCache") }
      }
      let provider = try MSALSerializedADALCacheProvider(delegate: Delegate())
      #expect(provider.delegate is Delegate)
      _ = try MSALSerializedADALCacheProvider(
        keychainAttributes: [:], trustedApplications: [], accessLabel: "cache")
      let application = try MSALPublicClientApplication.test(FakeEntra()) {
        $0.cacheConfig.serializedADALCache = provider
      }
      _ = try await application.signIn()
      #expect(try application.allAccounts().count == 1 && provider.serializeData().isEmpty)
      try provider.deserialize(Data())
      #expect(try await failure { try provider.deserialize(Data([1])) }.domain == MSALErrorDomain)
    }

    @Test func `Linux is an ordinary device`() async throws {
      let application = try MSALPublicClientApplication.test(FakeEntra())
      let information = try await application.deviceInformation(with: nil)
      #expect(information.deviceMode == .default && !information.hasAADSSOExtension)
      let error = try await failure { try await application.wpjMetaDataDevice(with: nil, forTenantId: nil) }
      #expect(error.domain == MSALErrorDomain)
      #expect(error.internalCode == MSALInternalError.internalBrokerNotAvailable.rawValue)
    }
  }
}
