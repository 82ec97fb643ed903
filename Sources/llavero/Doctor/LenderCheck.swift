import FoundationEssentials
import IdentityClient
import Lending
import TokenCache

/// Whether the lender responds, and what is lent. No token is asked for: the lender may have to ask a person.
struct LenderCheck: Check {
  static let name = "lender"

  let lender: LoanBroker
  let address: String

  func examine(_ patient: Patient) async -> [Finding] {
    let borrowed = Finding.ok("Tokens are borrowed from \(address); no keyring and no store is used.")
    do throws(IdentityError) {
      let terms = try await lender.terms()
      let name = terms.account.username ?? terms.account.homeAccountID
      let scopes = terms.scopes.map { $0.joined(separator: " ") }.joined(separator: "; ")
      let end = "until \(terms.end.formatted(.iso8601)), \(timeLeft(until: terms.end, from: patient.now))"
      return [borrowed, .ok("The lender answers. Tokens of \(name) are lent for \(scopes), \(end).")]
    } catch {
      return [borrowed, .problem(error.message, advice: error.advice)]
    }
  }
}
