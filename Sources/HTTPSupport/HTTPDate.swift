package import FoundationEssentials

/// The date format of HTTP header fields (RFC 9110 section 5.6.7), the preferred form.
package enum HTTPDate {
  /// Reads a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
  package static func parse(_ text: String) -> Date? {
    let parts = text.split(whereSeparator: { $0 == " " || $0 == "," })
    guard parts.count == 6, parts[5] == "GMT", let day = Int(parts[1]), (1...31).contains(day),
      let month = months.firstIndex(of: String(parts[2])), let year = Int(parts[3]),
      (1970...9999).contains(year)
    else { return nil }
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
