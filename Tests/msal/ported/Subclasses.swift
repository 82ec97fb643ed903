// Builds without warnings.
import MSAL

/// What a program states itself, since there the classes say nothing of it.
extension MSALPublicClientApplication: @unchecked @retroactive Sendable {}
extension MSALAccount: @unchecked @retroactive Sendable {}
extension MSALAccountId: @unchecked Sendable {}
extension MSALTenantProfile: @unchecked @retroactive Sendable {}
extension MSALResult: @unchecked Sendable {}
extension MSALAuthority: @unchecked @retroactive Sendable {}
extension MSALAADAuthority: @unchecked @retroactive Sendable {}
extension MSALB2CAuthority: @unchecked @retroactive Sendable {}
extension MSALADFSAuthority: @unchecked @retroactive Sendable {}
extension MSALCIAMAuthority: @unchecked @retroactive Sendable {}
extension MSALDeviceInformation: @unchecked @retroactive Sendable {}
extension MSALWPJMetaData: @unchecked @retroactive Sendable {}
extension MSALDeviceTokenResult: @unchecked @retroactive Sendable {}
extension MSALRedirectUri: @unchecked @retroactive Sendable {}
extension MSALGlobalConfig: @unchecked @retroactive Sendable {}
extension MSALHTTPConfig: @unchecked @retroactive Sendable {}
extension MSALLoggerConfig: @unchecked @retroactive Sendable {}
extension MSALTelemetryConfig: @unchecked @retroactive Sendable {}
extension MSALAuthenticationSchemeBearer: @unchecked @retroactive Sendable {}
extension MSALWipeCacheForAllAccountsConfig: @unchecked @retroactive Sendable {}
extension MSALLegacySharedAccountsProvider: @unchecked @retroactive Sendable {}
extension MSALParameters: @unchecked @retroactive Sendable {}
extension MSALWebviewParameters: @unchecked @retroactive Sendable {}
extension MSALPublicClientApplicationConfig: @unchecked @retroactive Sendable {}
extension MSALCacheConfig: @unchecked @retroactive Sendable {}
extension MSALClaimsRequest: @unchecked @retroactive Sendable {}

/// Initializers that subclasses call.
final class Application: MSALPublicClientApplication, @unchecked Sendable {
  override init(configuration config: MSALPublicClientApplicationConfig) throws {
    try super.init(configuration: config)
  }

  override init(clientId: String) throws { try super.init(clientId: clientId) }
}

final class Config: MSALPublicClientApplicationConfig, @unchecked Sendable {
  override init(clientId: String) { super.init(clientId: clientId) }

  override init(clientId: String, redirectUri: String?, authority: MSALAuthority?) {
    super.init(clientId: clientId, redirectUri: redirectUri, authority: authority)
  }
}

final class AnyAuthority: MSALAuthority, @unchecked Sendable {
  override init(url: URL) throws { try super.init(url: url) }
}

final class AADAuthority: MSALAADAuthority, @unchecked Sendable {
  override init(url: URL, rawTenant: String?) throws { try super.init(url: url, rawTenant: rawTenant) }
}

final class B2CAuthority: MSALB2CAuthority, @unchecked Sendable {
  override init(url: URL) throws { try super.init(url: url) }
}

final class ADFSAuthority: MSALADFSAuthority, @unchecked Sendable {
  override init(url: URL) throws { try super.init(url: url) }
}

final class CIAMAuthority: MSALCIAMAuthority, @unchecked Sendable {
  override init(url: URL, validateFormat: Bool) throws {
    try super.init(url: url, validateFormat: validateFormat)
  }
}

final class SignOut: MSALSignoutParameters, @unchecked Sendable {
  override init() { super.init() }
}

func present(_ style: UIModalPresentationStyle) -> MSALWebviewParameters {
  let parameters = MSALWebviewParameters()
  parameters.presentationStyle = style
  return parameters
}
