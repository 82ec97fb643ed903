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

  /// For a column, such as `42 min left` or `3 d ago`.
  public var abbreviation: String {
    let (count, unit) = amount
    return "\(Int(min(count, 1e9))) \(unit.symbol) \(isExpired ? "ago" : "left")"
  }

  /// A unit of time.
  public enum Unit: Double, Sendable, CaseIterable {
    case year = 31_536_000
    case day = 86_400
    case hour = 3600
    case minute = 60
    case second = 1

    fileprivate var symbol: String {
      switch self {
      case .year: "y"
      case .day: "d"
      case .hour: "h"
      case .minute: "min"
      case .second: "s"
      }
    }
  }

  /// The time that is left or has passed, in the largest unit of which there are two, so that rounding down leaves little out.
  public var amount: (count: Double, unit: Unit) {
    let unit = Unit.allCases.first { abs(seconds) >= 2 * $0.rawValue } ?? .second
    return ((abs(seconds) / unit.rawValue).rounded(.down), unit)
  }
}
