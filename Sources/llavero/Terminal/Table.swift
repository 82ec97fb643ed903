/// Columns of text that fit the terminal.
enum Table {
  struct Column: ExpressibleByStringLiteral {
    let title: String
    /// The width down to which the column shrinks first; `nil` where it shrinks only after all others.
    let minimum: Int?
    let style: (_ cell: String) -> Style?

    init(_ title: String, minimum: Int? = nil, style: @escaping (_ cell: String) -> Style? = { _ in nil }) {
      self.title = title
      self.minimum = minimum
      self.style = style
    }

    init(stringLiteral title: String) { self.init(title) }
  }

  /// Prints a table, cut to the terminal's width; in full where the stream is not a terminal.
  static func print(_ columns: [Column], rows: [[String]], to stream: Stream = Terminal.output) {
    let rows = rows.map { $0.map(printable) }
    let widths = widths(of: columns, rows, in: stream.width)
    func line(_ cells: [String], style: (Column, String) -> Style?) -> String {
      var line = ""
      for (column, cell) in cells.enumerated() {
        let shown = cell.cut(to: widths[column])
        let padding = column + 1 < cells.count ? widths[column] - shown.columns + gap : 0
        line += stream.styled(shown, style(columns[column], cell)) + String(repeating: " ", count: padding)
      }
      return line
    }
    stream.write(line(columns.map(\.title)) { _, _ in .bold } + "\n")
    for row in rows { stream.write(line(row) { $0.style($1) } + "\n") }
  }

  private static let gap = 2

  private static func widths(of columns: [Column], _ rows: [[String]], in width: Int?) -> [Int] {
    var widths = columns.indices.map { column in
      rows.map { $0[column].columns }.reduce(columns[column].title.columns, max)
    }
    guard let width else { return widths }
    // The columns with a minimum shrink first, the one furthest above it before the others; then all do.
    let stages = [
      columns.map { $0.minimum ?? .max }, columns.map { $0.minimum == nil ? .max : 6 },
      columns.map { _ in 1 },
    ]
    for minimums in stages {
      while widths.reduce(gap * (widths.count - 1), +) > width {
        let candidates = columns.indices.filter { widths[$0] > minimums[$0] }
        guard let most = candidates.max(by: { widths[$0] - minimums[$0] < widths[$1] - minimums[$1] })
        else { break }
        widths[most] -= 1
      }
    }
    return widths
  }
}

/// The style of a cell with a time left.
func timeStyle(_ cell: String) -> Style? {
  cell.hasSuffix("left") ? .green : cell.hasSuffix("ago") ? .red : nil
}
