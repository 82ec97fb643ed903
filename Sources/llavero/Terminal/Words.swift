/// A number with its noun, such as "2 records".
func counted(_ count: Int, _ noun: String) -> String {
  "\(count) \(noun)\(count == 1 ? "" : "s")"
}

/// The style of a cell with a time left.
func timeStyle(_ cell: String) -> Style? {
  cell.hasSuffix("left") ? .green : cell.hasSuffix("ago") ? .red : nil
}
