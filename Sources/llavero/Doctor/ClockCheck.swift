import FoundationEssentials
import TokenCache

/// Whether tokens were cached at a time that has not come yet.
struct ClockCheck: Check {
  static let name = "clock"

  /// Clocks of two machines that share a home directory may differ by so much, in seconds.
  private static let tolerance = 300.0

  func examine(_ patient: Patient) async throws -> [Finding] {
    var findings: [Finding] = []
    for group in try await patient.store.groups() {
      let documents = try await patient.store.read(.all, in: group).documents.values
      let ahead = documents.flatMap(\.accessTokens.values).compactMap(\.cachedAt)
        .filter { $0.timeIntervalSince(patient.now) > Self.tolerance }
      guard let last = ahead.max() else { continue }
      findings.append(
        .warning(
          "\(group.name) has \(counted(ahead.count, "token")) cached in the future, "
            + "at \(last.formatted(.iso8601)): the clock was wrong then, or is now.",
          advice: "Such tokens are renewed early. Look at the clock: timedatectl status"))
    }
    if !findings.isEmpty { return findings }
    return [.ok("No token comes from the future: the clock says \(patient.now.formatted(.iso8601)).")]
  }
}
