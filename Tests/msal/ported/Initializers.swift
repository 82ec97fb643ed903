import Foundation
import MSAL

/// What every class inherits from NSObject there, unless its header says that it cannot be made so.
let parameters: [MSALParameters] = [
  MSALParameters(), MSALSignoutParameters(), MSALAccountEnumerationParameters(),
]
let objects: [NSObject] = [
  MSALAccountId(), MSALAuthenticationSchemeBearer(), MSALClaimsRequest(), MSALDeviceInformation(),
  MSALIndividualClaimRequestAdditionalInfo(), MSALPublicClientApplication(), MSALRedirectUri(), MSALResult(),
  MSALTenantProfile(), MSALWPJMetaData(), MSALWipeCacheForAllAccountsConfig(),
]

/// What a program's tests use in place of an application.
class StandIn: MSALPublicClientApplication, @unchecked Sendable {
  override init() { super.init() }

  override func allAccounts() throws -> [MSALAccount] { [] }
}

func name(_ error: NSError) -> String {
  switch MSALInternalError(rawValue: error.userInfo[MSALInternalErrorCodeKey] as? Int ?? 0) {
  case .internalErrorInvalidGrant?: "grant"
  case .some(.invalidClient): "client, as MSAL before 1.1 said it"
  case .some(.errorInvalidClient), .brokerNotAvailable?: "as MSAL 1.1 to 1.2.8 said it"
  case .some(let other) where other == .uiNotSupportedInExtension: "extension"
  default: "other"
  }
}
