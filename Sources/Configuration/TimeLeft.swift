public import FoundationEssentials

/// How much of a token's time is left.
public struct TimeLeft: Sendable, Hashable {
  /// Between 0, expired, and 1, as new.
  public let fraction: Double
  public let isExpired: Bool
  private let seconds: Double

  /// - Parameters:
  ///   - end: When the token expires.
  ///   - start: When it was stored; without it, an hour before its end.
  ///   - now: The present.
  public init(until end: Date, from start: Date? = nil, at now: Date) {
    seconds = end.timeIntervalSince(now)
    let whole = end.timeIntervalSince(start ?? end.addingTimeInterval(-3600))
    isExpired = seconds <= 0
    fraction = whole > 0 ? min(max(seconds / whole, 0), 1) : (isExpired ? 0 : 1)
  }

  /// In words, such as `42 minutes left` or `Expired 3 days ago`.
  public var text: String {
    let (count, unit) = amount
    // A moment that no calendar reaches.
    let words = count < 10_000 ? "\(Int(count)) \(unit.name)\(count == 1 ? "" : "s")" : "ages"
    return isExpired ? "Expired \(words) ago" : "\(words) left"
  }

  /// For a column, such as `42 min left` or `3 d ago`.
  public var abbreviation: String {
    let (count, unit) = amount
    return "\(Int(min(count, 1e9))) \(unit.symbol) \(isExpired ? "ago" : "left")"
  }

  private static let units: [(name: String, symbol: String, seconds: Double)] = [
    ("year", "y", 31_536_000), ("day", "d", 86_400), ("hour", "h", 3600), ("minute", "min", 60),
    ("second", "s", 1),
  ]

  /// In the largest unit of which there are two, so that rounding down leaves little out.
  private var amount: (count: Double, unit: (name: String, symbol: String, seconds: Double)) {
    let unit = Self.units.first { abs(seconds) >= 2 * $0.seconds } ?? ("second", "s", 1)
    return ((abs(seconds) / unit.seconds).rounded(.down), unit)
  }
}
