import GLibSupport
import TokenCache

/// The text of a key file, of which single values are changed; everything else in it stays as it is, to the byte.
struct KeyFileText {
  private var lines: [ArraySlice<UInt8>]
  private let mark: [UInt8]

  init(_ contents: [UInt8]) {
    mark = contents.starts(with: KeyFile.byteOrderMark) ? KeyFile.byteOrderMark : []
    lines = contents.dropFirst(mark.count).split(
      separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
  }

  var contents: [UInt8] { mark + Array(lines.joined(separator: [UInt8(ascii: "\n")])) }

  /// Changes the value of a key, which is empty without one. A key whose new value is empty is removed, and a group without
  /// keys. A new key comes after the others, with the sign between it and its value.
  mutating func change(_ key: String, in group: String, sign: String, _ change: (Substring) -> String) {
    // Comments may have another encoding.
    let texts = lines.map { String(decoding: $0, as: UTF8.self) }
    // Of two lines with one name, and of two groups, the later one counts.
    let start = texts.lastIndex { $0.trimmed == "[\(group)]" }
    let next = start.flatMap { start in texts[(start + 1)...].firstIndex { $0.trimmed.hasPrefix("[") } }
    let end = next ?? texts.endIndex
    let place = start.flatMap { start in texts[start..<end].lastIndex { $0.key == key } }
    let old = place.map { texts[$0] } ?? key + sign
    let value = old.drop { $0 != "=" }.dropFirst().drop { $0 == " " }
    let new = change(value)
    let line = Array((old.dropLast(value.count) + new).utf8)[...]
    switch (start, place) {
    case (let start?, let place?) where new.isEmpty:
      lines.remove(at: place)
      if lines[(start + 1)..<(end - 1)].allSatisfy(\.isEmpty) { lines.remove(at: start) }
    case _ where new.isEmpty: break
    case (_, let place?): lines[place] = line
    case (let start?, nil):
      let last = texts[start..<end].lastIndex { !$0.trimmed.isEmpty } ?? start
      lines.insert(line, at: last + 1)
    case (nil, nil):
      // The last line follows the last line break, and is empty in most files.
      if lines.last?.isEmpty == false { lines.append([]) }
      lines.insert(contentsOf: [Array("[\(group)]".utf8)[...], line], at: lines.endIndex - 1)
    }
  }
}

extension String {
  /// The key that a line sets; `nil` for a comment.
  fileprivate var key: String? {
    guard !trimmed.hasPrefix("#"), let end = firstIndex(of: "=") else { return nil }
    return String(self[..<end]).trimmed
  }
}
