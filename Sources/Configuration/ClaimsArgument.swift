import FoundationEssentials
import GLibSupport
package import IdentityClient
import TokenCache

extension ClaimsRequest {
  /// Reads an argument: the JSON of a `claims` parameter, or that in base64 or base64url, as a claims challenge has it and as
  /// `az login --claims-challenge` and `azd auth token --claims` take it.
  package init(argument: String) throws(ConfigurationError) {
    var json: String? = argument.trimmed
    if json?.hasPrefix("{") == false {
      json = Data(base64URL: argument.trimmed).flatMap { String(data: $0, encoding: .utf8) }
    }
    guard let targets = try? JSONObject(foreign: Data((json ?? "").utf8), within: .response) else {
      throw ConfigurationError(
        value: #"expected JSON such as {"access_token":{"acrs":{"essential":true}}}, or the same in base64"#)
    }
    do { try self.init(targets) } catch { throw ConfigurationError(value: error.message) }
  }

  /// The argument in base64url, which every shell takes as one word; `nil` for values that JSON cannot represent.
  package var argument: String? { (try? json()).map { Data($0.utf8).base64URL } }
}
