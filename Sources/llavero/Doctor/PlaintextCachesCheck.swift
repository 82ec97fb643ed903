import CommandSupport
import FoundationEssentials
import TokenCache

/// Token caches that other tools keep in clear.
struct PlaintextCachesCheck: Check {
  static let name = "plaintext_caches"

  func examine(_ patient: Patient) async -> [Finding] {
    let findings = Self.candidates(patient.environment).flatMap(Self.findings)
    return findings.isEmpty ? [.ok("No cache of another tool lies about in clear.")] : findings
  }

  private static func findings(_ path: String) -> [Finding] {
    guard let status = FileStatus(path), status.isRegular,
      let json = try? InputFile.read(path), let document = try? CacheDocument(json: json)
    else { return [] }
    let count = document.accessTokens.count + document.refreshTokens.count + document.idTokens.count
    guard count > 0 else { return [] }
    let inClear = Finding.warning(
      "\(path) holds \(counted(count, "token")) in clear.",
      advice: "Take them into the keyring: llavero import \(shellQuoted(path))")
    guard status.isOpenToOthers else { return [inClear] }
    return [
      .mendable(.problem, "\(path) holds tokens, and its mode lets others read it.") {
        try FileStatus.close(path)
      },
      inClear,
    ]
  }

  /// Where MSAL's libraries and the tools that use them keep caches unless told otherwise.
  private static func candidates(_ environment: [String: String]) -> [String] {
    let home = environment["HOME"] ?? ""
    func base(_ variable: String, else path: String) -> String {
      environment[variable].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "\(home)/\(path)"
    }
    let azure = base("AZURE_CONFIG_DIR", else: ".azure")
    let files = [
      "\(azure)/msal_token_cache.json", "\(azure)/msal_token_cache.bin", "\(home)/.gcm/msal/app.cache",
    ]
    let directories = [
      "\(home)/.IdentityService", "\(home)/.local/.IdentityService", "\(home)/.azureauth",
      "\(base("XDG_DATA_HOME", else: ".local/share"))/.IdentityService",
      "\(base("XDG_CACHE_HOME", else: ".cache"))/.IdentityService",
    ]
    return files
      + directories.flatMap { directory in
        ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted()
          .map { "\(directory)/\($0)" }
      }
  }
}
