import EncryptedFileStore
import FoundationEssentials
import TokenCache
import ToolSupport

/// The directories of the file store, and whose they are.
struct SealedFilesCheck: Check {
  static let name = "sealed_files"

  let store: EncryptedFileCacheStore

  func examine(_ patient: Patient) async -> [Finding] {
    do throws(CacheError) {
      let root = try store.path()
      guard FileStatus(root) != nil else {
        return [.ok("There is no file store in \(root) yet; the first write makes it.")]
      }
      let groups = try store.path(of: nil)
      let names = (try? FileManager.default.contentsOfDirectory(atPath: groups)) ?? []
      let directories = [root, groups] + names.sorted().map { "\(groups)/\($0)" }
      let findings = (directories + directories.map { "\($0)/lock" }).compactMap {
        Finding.ofAccess(to: $0, advice: "Find out who did that. The store does not use it.")
      }
      return findings.isEmpty ? [.ok("The file store in \(root) is closed to others.")] : findings
    } catch {
      return [.problem(error)]
    }
  }
}
