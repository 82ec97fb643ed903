/// What came of a change of keys.
public struct RekeySummary: Sendable, Hashable {
  /// How many sealed parts of the store were sealed with the new key.
  public package(set) var resealed = 0
  /// How many could not be opened. While there are such, their old keys are kept.
  public package(set) var left = 0

  package init(resealed: Int = 0, left: Int = 0) {
    self.resealed = resealed
    self.left = left
  }

  package static func += (sum: inout RekeySummary, part: RekeySummary) {
    sum.resealed += part.resealed
    sum.left += part.left
  }
}
