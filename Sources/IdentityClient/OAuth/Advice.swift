/// Hints for the numbers that Microsoft's services put into their refusals. They are for people to read;
/// nothing else depends on them.
enum Advice {
  /// What to do about a refusal, where that is known.
  static func `for`(_ failure: OAuthFailure) -> String? {
    if let hint = failure.codes.lazy.compactMap({ byCode[$0] }).first { return hint }
    switch failure.description {
    case .some(let text) where text.hasPrefix("AADB2C90118"):
      return "The person asked to reset the password: start the policy for that."
    default: return nil
    }
  }

  private static let byCode: [Int: String] = {
    var hints: [Int: String] = [:]
    for (codes, hint) in table { for code in codes { hints[code] = hint } }
    return hints
  }()

  private static let table: [([Int], String)] = [
    (
      [16000, 50020, 51004, 90072],
      "The account is not in this tenant: choose another account or have it invited."
    ),
    (
      [50011, 500112],
      "The redirect URI is not registered: add http://localhost under \"Mobile and desktop applications\"."
    ),
    ([50034, 50126], "The user name or the password is wrong."),
    ([50053], "The account is locked, or the address it came from is blocked."),
    ([50055, 50144], "The password has expired: reset it."),
    ([50057, 7_000_112, 70001], "The account or the application is disabled."),
    ([50059, 90019], "The server cannot tell the tenant: name it in the authority."),
    ([50072, 50074, 50076, 50078, 50079, 50158], "A second factor is needed: sign in interactively."),
    (
      [50085, 50173, 50132, 50133, 50089, 70008, 700_082, 70043],
      "The session has expired or was revoked: sign in again."
    ),
    ([50097, 50187, 53000, 53001, 50129], "The device must be registered and compliant."),
    ([50105], "The account is not assigned to the application."),
    ([50194], "The application belongs to one tenant: use that tenant's id in the authority."),
    ([50196], "The server has seen the same request too often: do not repeat it, look after the cache."),
    (
      [500_011, 650_052, 650_057, 65005],
      "The resource is unknown, not subscribed to, or not listed in the application's registration."
    ),
    ([50049, 90002, 90038], "The cloud or the tenant does not exist there: check the authority."),
    (
      [53003, 530_032, 530_035, 53004, 53011],
      "The organisation's rules block the sign-in: ask its administrator."
    ),
    ([54005], "The code was used before: start the sign-in again."),
    ([65001], "Consent is needed: sign in interactively."),
    ([90094, 90095], "An administrator has to consent."),
    ([65004], "The person declined to consent."),
    ([70011, 28002, 700_022, 700_023, 900_144], "Check the scopes: all of them must be of one resource."),
    ([700_016, 700_011], "The client id is unknown in this tenant: check both."),
    ([7_000_218], "The application is no public client: switch on \"Allow public client flows\"."),
    ([90006, 90024, 90033, 90090, 50033, 50087], "The trouble is temporary: try again later."),
    ([9_002_332, 90130, 90124], "The application cannot be used with this kind of account: name a tenant."),
  ]
}
