/// Columns of text that fit the terminal.
struct Table {
  struct Column {
    let title: String
    /// Whether the column gives way when the terminal is narrow.
    var isFlexible = false
  }

  private let columns: [Column]
  private var rows: [[String]] = []

  init(_ columns: [Column]) {
    self.columns = columns
  }

  mutating func add(_ cells: [String]) {
    rows.append(cells.map(printable))
  }

  /// The lines, cut to the terminal's width; in full where the output is none.
  ///
  /// - Parameter style: Colours a cell, given its column, after it was measured.
  func lines(width: Int?, style: (_ column: Int, _ cell: String) -> String) -> [String] {
    let widths = fitted(to: width)
    func line(_ cells: [String], style: (Int, String) -> String) -> String {
      var line = ""
      for (column, cell) in cells.enumerated() {
        let shown = cut(cell, to: widths[column])
        let padding = column + 1 < cells.count ? widths[column] - shown.count + 2 : 0
        line += style(column, shown) + String(repeating: " ", count: padding)
      }
      return line
    }
    return [line(columns.map(\.title)) { Terminal.bold($1) }] + rows.map { line($0, style: style) }
  }

  private func fitted(to width: Int?) -> [Int] {
    var widths = columns.indices.map { column in
      rows.map { $0[column].count }.reduce(columns[column].title.count, max)
    }
    guard let width else { return widths }
    let minimum = 8
    while widths.reduce(2 * (widths.count - 1), +) > width {
      let widest = columns.indices.filter { columns[$0].isFlexible && widths[$0] > minimum }
        .max { widths[$0] < widths[$1] }
      guard let widest else { break }
      widths[widest] -= 1
    }
    return widths
  }

  private func cut(_ text: String, to width: Int) -> String {
    text.count <= width ? text : text.prefix(width - 1) + "…"
  }
}
