/// Columns of text that fit the terminal.
enum Table {
  struct Column: ExpressibleByStringLiteral {
    let title: String
    /// The width down to which the column shrinks first.
    let minimum: Int
    /// Whether it shrinks below that only after all others.
    let isKept: Bool
    let style: (_ cell: String) -> Style?

    /// Without a minimum it shrinks only after all others.
    init(
      _ title: String, minimum: Int? = nil, isKept: Bool = false,
      style: @escaping (_ cell: String) -> Style? = { _ in nil }
    ) {
      self.title = title
      self.minimum = minimum ?? .max
      self.isKept = isKept || minimum == nil
      self.style = style
    }

    init(stringLiteral title: String) { self.init(title) }

    /// A column of user names, which are not cut before all else. Where an account has none, its home account ID is.
    static func accounts(_ title: String, _ usernames: [String?]) -> Self {
      let width = usernames.lazy.compactMap(\.self).map { printable($0).columns }.max() ?? 0
      return Self(title, minimum: max(width, 12), isKept: true)
    }
  }

  /// Prints a table, cut to the terminal's width; in full where the stream is not a terminal. There `joining` makes a column
  /// whose cells are all the same a line above; a program that reads columns always gets all.
  static func print(
    _ columns: [Column], rows: [[String]], joining: Bool = false, to stream: Stream = Terminal.output
  ) {
    var (columns, rows) = (columns, rows.map { $0.map(printable) })
    let width = stream.width
    if joining, let width, rows.count > 1 {
      let shared = columns.indices.filter { column in rows.allSatisfy { $0[column] == rows[0][column] } }
      for column in shared where rows[0][column] != "-" {
        let title = columns[column].title + "  "
        stream.write(stream.styled(title, .bold) + rows[0][column].cut(to: width - title.columns) + "\n")
      }
      for column in shared.reversed() {
        columns.remove(at: column)
        for row in rows.indices { rows[row].remove(at: column) }
      }
    }
    let widths = widths(of: columns, rows, in: width)
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
    let stages =
      [nil, 6, 1].map { least in columns.map { $0.isKept ? $0.minimum : least ?? $0.minimum } }
      + [columns.map { _ in 1 }]
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
