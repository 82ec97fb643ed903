import FoundationEssentials
import Glibc
import KeyringStore
import TokenCache
import WorkerSupport

/// One writer of a soak: saves and finds tokens of its own in accounts that it shares with others.
///
/// Each token has a place, a scope that no other writer uses, and a growing number: a place with an older token than
/// was acknowledged shows a lost write.
struct SoakWriter {
  /// The expected token of a place.
  struct Place: Codable {
    let account: Int
    let scope: String
    /// The last token whose save returned; `nil` before the first.
    var acknowledged: String?
    /// The tokens whose save failed after that; each may have been saved all the same.
    var attempted: [String] = []

    /// Whether a token may be there.
    func allows(_ name: String?) -> Bool { name == acknowledged || name.map(attempted.contains) ?? false }
  }

  struct Report: Codable {
    var writes = 0
    var reads = 0
    /// Unexpected tokens in places.
    var misses: [String] = []
    /// By the code of the error.
    var errors: [String: Int] = [:]
    var places: [Place] = []
  }

  let cache: TokenCacheAccessor

  /// Works until standard input ends, and reports.
  func run(_ name: String, accounts: Int) async -> Report {
    let isOver = EndOfInput()
    var report = Report()
    report.places = (0..<accounts).map { Place(account: $0, scope: "api://sample/\(name)-\($0)") }
    var number = 0
    while !isOver.isReached {
      let index = Int.random(in: 0..<accounts)
      do throws(CacheError) {
        if number.isMultiple(of: 3) {
          let token = "\(name)-\(index)-\(number)"
          report.places[index].attempted.append(token)
          try await cache.save(report.places[index].sample(token))
          report.places[index].acknowledged = token
          report.places[index].attempted = []
          report.writes += 1
        } else {
          let (place, found) = (report.places[index], try await found(in: report.places[index]))
          if !place.allows(found) {
            report.misses.append("\(found ?? "nothing") instead of \(place.acknowledged ?? "nothing")")
          }
          report.reads += 1
        }
      } catch {
        report.errors[error.code.rawValue, default: 0] += 1
        // Not to fill the report while the daemon is away.
        try? await Task.sleep(for: .milliseconds(50))
      }
      number += 1
    }
    return report
  }

  /// Whether a place holds what it must.
  func holds(_ place: Place) async throws(CacheError) -> Bool {
    try await place.allows(found(in: place))
  }

  private func found(in place: Place) async throws(CacheError) -> String? {
    try await cache.accessToken(for: place.sample("").lookup)
      .flatMap { SampleToken.name(ofAccessToken: $0.token.secret) }
  }
}

extension SoakWriter.Place {
  fileprivate func sample(_ name: String) -> SampleToken { SampleToken(name, account: account, scope: scope) }
}
