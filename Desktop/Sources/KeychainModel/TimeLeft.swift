public import FoundationEssentials

/// How much of a token's time is left.
public struct TimeLeft: Sendable, Hashable {
  /// Between 0, over, and 1, as new.
  public let fraction: Double
  /// In words, such as `42 minutes left` or `Expired 3 days ago`.
  public let text: String
  public let isOver: Bool

  /// - Parameters:
  ///   - end: When the token expires.
  ///   - start: When it was stored; without it, an hour before its end.
  ///   - now: The present.
  public init(until end: Date, from start: Date?, at now: Date) {
    let left = end.timeIntervalSince(now)
    let whole = end.timeIntervalSince(start ?? end.addingTimeInterval(-3600))
    isOver = left <= 0
    fraction = whole > 0 ? min(max(left / whole, 0), 1) : (isOver ? 0 : 1)
    text = isOver ? "Expired \(Self.words(-left)) ago" : "\(Self.words(left)) left"
  }

  private static let units: [(name: String, seconds: Double)] = [
    ("year", 31_536_000), ("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1),
  ]

  /// The largest unit of which there are two, so that rounding down leaves little out.
  private static func words(_ seconds: Double) -> String {
    let unit = units.first { seconds >= 2 * $0.seconds } ?? ("second", 1)
    let count = (seconds / unit.seconds).rounded(.down)
    // A moment that no calendar reaches.
    guard count < 10_000 else { return "ages" }
    return "\(Int(count)) \(unit.name)\(count == 1 ? "" : "s")"
  }
}
