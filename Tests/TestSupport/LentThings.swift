package import FoundationEssentials
package import TokenCache

/// Responses of lenders in tests.
package enum LentThings {
  package static let client = "c0000000-0000-4000-8000-000000000001"
  package static let tenant = "70000000-0000-4000-8000-000000000001"
  package static let account = "a11ce000-0000-4000-8000-000000000001.\(tenant)"

  /// The terms of a loan, with changes.
  package static func terms(_ changes: JSONObject = [:]) -> String {
    let fields: JSONObject = [
      "scopes": .array(["User.Read Mail.Read", "https://management.azure.com/.default"]),
      "client_id": .string(client),
      "authority": .string("https://login.microsoftonline.com/\(tenant)"), "environment": "login.windows.net",
      "username": "alice@contoso.test", "home_account_id": .string(account), "tenant_id": .string(tenant),
      "expires_on": "4102444800",
    ]
    return text(fields.merging(changes) { $1 })
  }

  /// The end of a token, in whole seconds.
  package static let tokenEnd = Date(
    timeIntervalSince1970: (Date().timeIntervalSince1970 + 5 * 365 * 86400).rounded())

  /// A token, with changes.
  package static func token(_ changes: JSONObject = [:]) -> String {
    let fields: JSONObject = [
      "access_token": "lent-token", "expires_on": .string("\(Int(tokenEnd.timeIntervalSince1970))"),
      "token_type": "Bearer",
      "client_id": .string(client),
      "scope": "User.Read", "username": "alice@contoso.test", "home_account_id": .string(account),
      "tenant_id": .string(tenant),
    ]
    return text(fields.merging(changes) { $1 })
  }

  package static func refusal(_ error: String, _ status: Int, _ description: String) -> String {
    text([
      "error": .string(error), "error_description": .string(description),
      "statusCode": .integer(Int64(status)),
    ])
  }

  private static func text(_ fields: JSONObject) -> String {
    (try? JSONEncoder().encode(fields)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }
}
