import CGLib

extension Unicode.Scalar {
  /// How many columns of a terminal the character takes: two when it is wide (UAX #11), none when it is a
  /// combining mark.
  package var columns: Int {
    if g_unichar_iszerowidth(value) != 0 { return 0 }
    return g_unichar_iswide(value) != 0 ? 2 : 1
  }
}
