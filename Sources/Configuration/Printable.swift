import GLibSupport

/// Text from a cache or another untrusted source, as it may be shown on one line.
///
/// - Parameters:
///   - text: The text.
///   - isName: Whether each character that could control a terminal, turn the direction of writing or be invisible becomes
///     U+FFFD, so that different names look different. Otherwise each run of them becomes a space.
/// - Returns: One line.
public func printable(_ text: String, isName: Bool = true) -> String {
  text.printable(limit: .max, isName: isName)
}
