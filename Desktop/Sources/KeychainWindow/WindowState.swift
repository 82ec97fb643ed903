import GTKSupport
import KeychainModel
public import TokenCache

/// What the window keeps over starts.
public struct WindowState: Sendable {
  private static let file = StateFile(of: "llavero", "window")

  var width: Int32?
  var height: Int32?
  var isMaximized = false
  /// The group that was shown last.
  public var group: KeychainGroup?
  /// The shards of the accounts that came first there: hashes, which the items of the keyring have as attributes, too.
  public var firstShards: [ShardID] = []

  /// Reads what the last window kept. What is invalid is ignored.
  public init() {
    let values = Self.file.read()
    let size = ["width", "height"].compactMap { values[$0].flatMap { Int32($0) } }
    if size.count == 2, size.allSatisfy({ 1...16384 ~= $0 }) { (width, height) = (size[0], size[1]) }
    isMaximized = values["maximized"] == "true"
    group = values["group"].flatMap { try? KeychainGroup($0) }
    let names = (values["first-shards"] ?? "").split(separator: " ").prefix(Keychain.pageSize)
    firstShards = names.filter { $0.utf8.count == 32 && $0.allSatisfy(\.isHexDigit) }
      .map { ShardID(rawValue: String($0)) }
  }

  func save() {
    var values = ["maximized": isMaximized ? "true" : "false"]
    values["width"] = width.map { "\($0)" }
    values["height"] = height.map { "\($0)" }
    values["group"] = group?.name
    values["first-shards"] = firstShards.map(\.rawValue).joined(separator: " ")
    Self.file.write(values)
  }
}
