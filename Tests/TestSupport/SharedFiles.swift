public import Foundation

/// Files that stand beside the repository and not in it.
public enum SharedFiles {
  public static let vectors = url("MSAL_VECTORS", else: "vectors/msal-apple.json")
  public static let fixtures = url("MSAL_FIXTURES", else: "fixtures")

  private static func url(_ variable: String, else path: String) -> URL {
    if let path = ProcessInfo.processInfo.environment[variable], !path.isEmpty {
      return URL(fileURLWithPath: path)
    }
    let packageRoot = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    return packageRoot.deletingLastPathComponent().appendingPathComponent("shared/\(path)")
  }
}
