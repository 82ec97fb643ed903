import FoundationEssentials
import GLibSupport
import IdentityClient
import TokenCache
import WorkerSupport

/// The code shown to the user.
struct DeviceCodeShown: Encodable {
  let userCode: String
  let verificationURI: String
}

extension DeviceCodeRequest {
  /// One that writes its code.
  init(showing scopes: [String]) {
    self.init(scopes: scopes) { code in
      write(
        json: DeviceCodeShown(userCode: code.userCode, verificationURI: code.verificationURI.absoluteString))
    }
  }
}

struct AccountsFound: Encodable {
  let accounts: [String]
}

struct Outcome: Encodable {
  /// SHA-256 of the access token, in hexadecimal.
  let tokenHash: String
  let token: String?
  let account: String
  let username: String?
  let scopes: [String]
  let source: String
  let cacheError: String?

  init(_ result: AuthenticationResult, reveal: Bool) {
    tokenHash = sha256Hex(result.accessToken)
    token = reveal ? result.accessToken : nil
    (account, username) = (result.account.homeAccountID, result.account.username)
    (scopes, source) = (result.scopes, "\(result.source)")
    cacheError = result.cacheError?.code.rawValue
  }
}

struct Refusal: Encodable {
  let error: String
  let oauthError: String?
  let message: String

  init(_ error: IdentityError) {
    self.error = error.code.rawValue
    (oauthError, message) = (error.oauthError, error.description)
  }
}

func write(json value: some Encodable) {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  // The reports have only values that JSON can represent.
  writeLine(((try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) }) ?? "{}")
}
