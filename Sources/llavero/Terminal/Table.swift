/// Columns of text that fit the terminal.
struct Table {
  struct Column {
    let title: String
    /// The width down to which the column shrinks first; `nil` where it shrinks only after all others.
    var minimum: Int?
  }

  private let columns: [Column]
  private var rows: [[String]] = []

  init(_ columns: [Column]) {
    self.columns = columns
  }

  mutating func add(_ cells: [String]) {
    rows.append(cells.map(printable))
  }

  /// Prints the table, cut to the terminal's width; in full where the stream is not a terminal. `style` returns the style of
  /// a cell.
  func print(to stream: Stream = Terminal.output, style: (_ column: Int, _ cell: String) -> Style?) {
    let widths = fitted(to: stream.width)
    func line(_ cells: [String], style: (Int, String) -> Style?) -> String {
      var line = ""
      for (column, cell) in cells.enumerated() {
        let shown = cell.cut(to: widths[column])
        let padding = column + 1 < cells.count ? widths[column] - shown.columns + Self.gap : 0
        line += stream.styled(shown, style(column, cell)) + String(repeating: " ", count: padding)
      }
      return line
    }
    stream.write(line(columns.map(\.title)) { _, _ in .bold } + "\n")
    for row in rows { stream.write(line(row, style: style) + "\n") }
  }

  private static let gap = 2

  private func fitted(to width: Int?) -> [Int] {
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
      while widths.reduce(Self.gap * (widths.count - 1), +) > width {
        let candidates = columns.indices.filter { widths[$0] > minimums[$0] }
        guard let most = candidates.max(by: { widths[$0] - minimums[$0] < widths[$1] - minimums[$1] })
        else { break }
        widths[most] -= 1
      }
    }
    return widths
  }
}
