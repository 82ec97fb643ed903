/// What came of a change of keys.
public struct RekeySummary: Sendable, Hashable {
  /// How many files were sealed with the new key.
  public internal(set) var resealed = 0
  /// How many files could not be opened. While there are such, their old keys are kept.
  public internal(set) var left = 0

  static func += (sum: inout RekeySummary, part: RekeySummary) {
    sum.resealed += part.resealed
    sum.left += part.left
  }
}
