import FoundationEssentials

/// A number with its noun, such as "2 records".
func counted(_ count: Int, _ noun: String) -> String {
  "\(count) \(noun)\(count == 1 ? "" : "s")"
}

/// The time until a moment, such as "59 min left" or "2 d ago".
func timeLeft(until moment: Date, from now: Date) -> String {
  let seconds = moment.timeIntervalSince(now)
  let (amount, unit): (Double, String) =
    switch abs(seconds) {
    case ..<60: (abs(seconds), "s")
    case ..<5400: (abs(seconds) / 60, "min")
    case ..<172_800: (abs(seconds) / 3600, "h")
    case ..<63_072_000: (abs(seconds) / 86400, "d")
    default: (abs(seconds) / 31_536_000, "y")
    }
  let text = "\(Int(amount.rounded(.down))) \(unit)"
  return seconds >= 0 ? "\(text) left" : "\(text) ago"
}

/// The style of a cell with such a time.
func timeStyle(_ cell: String) -> Style? {
  cell.hasSuffix("left") ? .green : cell.hasSuffix("ago") ? .red : nil
}
