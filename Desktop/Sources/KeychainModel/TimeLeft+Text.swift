public import Configuration
import Localization

extension TimeLeft {
  /// In words, such as `42 minutes left` or `Expired 3 days ago`.
  public var text: String {
    let (amount, unit) = amount
    // A moment that no calendar reaches.
    guard amount < 10_000 else { return isExpired ? localized("Expired ages ago") : localized("Ages left") }
    let count = Int(amount)
    return switch (unit, isExpired) {
    case (.year, false): localized("%d year left", "%d years left", count: count, count)
    case (.day, false): localized("%d day left", "%d days left", count: count, count)
    case (.hour, false): localized("%d hour left", "%d hours left", count: count, count)
    case (.minute, false): localized("%d minute left", "%d minutes left", count: count, count)
    case (.second, false): localized("%d second left", "%d seconds left", count: count, count)
    case (.year, true): localized("Expired %d year ago", "Expired %d years ago", count: count, count)
    case (.day, true): localized("Expired %d day ago", "Expired %d days ago", count: count, count)
    case (.hour, true): localized("Expired %d hour ago", "Expired %d hours ago", count: count, count)
    case (.minute, true): localized("Expired %d minute ago", "Expired %d minutes ago", count: count, count)
    case (.second, true): localized("Expired %d second ago", "Expired %d seconds ago", count: count, count)
    }
  }
}
