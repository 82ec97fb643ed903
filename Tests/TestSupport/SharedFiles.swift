public import Foundation
public import Testing

/// Files of the repository that tests read, and those that take their place or are added to them.
public enum SharedFiles {
  /// The repository itself.
  public static let repository = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The text of `CacheFormat.md`.
  public static func cacheFormat() throws -> String {
    try String(contentsOf: repository.appending(path: "CacheFormat.md"), encoding: .utf8)
  }

  /// The test values of MSAL for iOS and macOS; `MSAL_VECTORS` names another file of this form.
  public static let vectors =
    named("MSAL_VECTORS") ?? repository.appending(path: "Tests/Data/msal-apple.json")

  /// Where caches of other MSAL libraries are. More of them are in the folder that `MSAL_FIXTURES` names, else in
  /// `../shared/fixtures` if it exists.
  public static let caches: [URL] = {
    let shared = repository.deletingLastPathComponent().appending(path: "shared/fixtures")
    let others =
      named("MSAL_FIXTURES") ?? (FileManager.default.fileExists(atPath: shared.path) ? shared : nil)
    return [repository.appending(path: "Tests/Data/caches")] + (others.map { [$0] } ?? [])
  }()

  private static func named(_ variable: String) -> URL? {
    guard let path = ProcessInfo.processInfo.environment[variable], !path.isEmpty else { return nil }
    return URL(fileURLWithPath: path)
  }
}

/// A cache as another MSAL library writes it.
public struct PeerCache: Sendable, CustomTestStringConvertible {
  public let url: URL
  public let data: Data

  public var testDescription: String { url.lastPathComponent }

  public static let all = SharedFiles.caches.flatMap(files)

  /// Every JSON file of a folder, also in folders below it.
  public static func files(in folder: URL) -> [PeerCache] {
    let paths = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
    return paths.filter { $0.hasSuffix(".json") }.sorted().compactMap { path in
      let url = folder.appending(path: path)
      return (try? Data(contentsOf: url)).map { PeerCache(url: url, data: $0) }
    }
  }
}
