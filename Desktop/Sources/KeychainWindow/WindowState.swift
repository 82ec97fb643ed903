public import GTKSupport
public import TokenCache

/// What the window keeps over starts.
public struct WindowState: Sendable {
  private static let file = StateFile(of: "llavero", "window")

  var width: Int32?
  var height: Int32?
  var isMaximized = false
  /// The group that was shown last.
  public var group: KeychainGroup?

  /// Reads what the last window kept. What is invalid is ignored.
  public init() {
    let values = Self.file.read()
    let size = ["width", "height"].compactMap { values[$0].flatMap { Int32($0) } }
    if size.count == 2, size.allSatisfy((1...16384).contains) { (width, height) = (size[0], size[1]) }
    isMaximized = values["maximized"] == "true"
    group = values["group"].flatMap { try? KeychainGroup($0) }
  }

  func save() {
    var values = ["maximized": isMaximized ? "true" : "false"]
    values["width"] = width.map { "\($0)" }
    values["height"] = height.map { "\($0)" }
    values["group"] = group?.name
    Self.file.write(values)
  }
}
