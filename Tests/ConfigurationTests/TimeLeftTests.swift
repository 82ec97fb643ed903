import Configuration
import FoundationEssentials
import Testing

struct TimeLeftTests {
  private let now = Date(timeIntervalSince1970: 1_800_000_000)

  @Test(
    arguments: [
      (3600.0, 3600.0, "60 min left", 1.0), (7200, 3600, "2 h left", 1), (1800, 3600, "30 min left", 0.5),
      (90, 3600, "90 s left", 0.025), (1, 3600, "1 s left", 1.0 / 3600), (0, 3600, "0 s ago", 0),
      (-7200, 3600, "2 h ago", 0), (172_800, 3600, "2 d left", 1), (1e18, 3600, "1000000000 y left", 1),
      (10, 0, "10 s left", 1), (-10, 0, "10 s ago", 0), (0, 0, "0 s ago", 0), (0.5, 1, "0 s left", 0.5),
    ] as [(Double, Double, String, Double)])
  func `The time left is shown in a column and as a part of the whole`(
    left: Double, whole: Double, abbreviation: String, fraction: Double
  ) {
    let end = now + left
    let time = TimeLeft(until: end, from: end - whole, at: now)
    #expect(time.abbreviation == abbreviation)
    #expect(abs(time.fraction - fraction) < 0.000_1)
    #expect(time.isExpired == (left <= 0))
  }

  @Test(
    arguments: [
      (nil, .valid, "-"), (60, .valid, "60 s left"), (60, nil, "60 s left"), (60, .unusable, "unusable"),
      (-60, .unusable, "unusable"), (60, .expired, "expired"), (-60, .expired, "60 s ago"),
    ] as [(Double?, RecordSummary.State?, String)])
  func `What serves no more before its end is shown by its state`(
    left: Double?, state: RecordSummary.State?, text: String
  ) {
    #expect(RecordSummary.expiry(left.map { now + $0 }, state, at: now) == text)
  }
}
