public import Foundation

/// Files that stand beside the repository and not in it.
public enum SharedFiles {
  public static let vectors = url("MSAL_VECTORS", else: "vectors/msal-apple.json")
  public static let fixtures = url("MSAL_FIXTURES", else: "fixtures")

  /// The repository itself.
  public static let repository = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private static func url(_ variable: String, else path: String) -> URL {
    if let path = ProcessInfo.processInfo.environment[variable], !path.isEmpty {
      return URL(fileURLWithPath: path)
    }
    return repository.deletingLastPathComponent().appendingPathComponent("shared/\(path)")
  }
}
