package import FoundationEssentials

/// The date formats of HTTP header fields (RFC 9110 section 5.6.7).
package enum HTTPDate {
  /// Reads a date such as `Sun, 06 Nov 1994 08:49:37 GMT`, or in one of the obsolete forms: `Sunday, 06-Nov-94 08:49:37 GMT` and
  /// `Sun Nov  6 08:49:37 1994`.
  package static func parse(_ text: String) -> Date? {
    let isDashed = text.contains("-")
    var parts = text.split(whereSeparator: { $0 == " " || $0 == "," || $0 == "-" })
    if parts.count == 5 { parts = [parts[0], parts[2], parts[1], parts[4], parts[3], "GMT"] }
    guard parts.count == 6, parts[5] == "GMT", let day = Int(parts[1]), (1...31).contains(day),
      let month = months.firstIndex(of: String(parts[2])), var year = Int(parts[3])
    else { return nil }
    // Of two digits: up to 50 years from now.
    if isDashed, (0...99).contains(year) {
      let next = Calendar(identifier: .gregorian).component(.year, from: Date()) + 50
      year += next / 100 * 100
      if year > next { year -= 100 }
    }
    guard (1970...9999).contains(year) else { return nil }
    let time = parts[4].split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
    guard time.count == 3, let hour = time[0], let minute = time[1], let second = time[2],
      (0..<24).contains(hour), (0..<60).contains(minute), (0...60).contains(second)
    else { return nil }
    let components = DateComponents(
      timeZone: .gmt, year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second)
    return Calendar(identifier: .gregorian).date(from: components)
  }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// How long a server asks to be left alone, in its `Retry-After` field: seconds or a date. That is relative to the server's own
  /// clock, the `Date` field, if the response has it.
  package static func secondsToWait(_ field: String?, date: String?, now: Date) -> Double? {
    guard let words = field?.split(whereSeparator: { $0 == " " || $0 == "\t" }) else { return nil }
    let text = words.joined(separator: " ")
    if let seconds = Double(text), seconds.isFinite { return max(0, seconds) }
    return parse(text).map { max(0, $0.timeIntervalSince(date.flatMap(parse) ?? now)) }
  }
}
