import EncryptedFileStore
import EtcdStore
import FoundationEssentials
import GLibSupport
import Sealing
import SecretService
import TokenCache

extension Check {
  /// Checks whether the Secret portal has a key for this program. It requests none.
  static let secretPortal = Check(name: "secret_portal") { setup in
    guard setup.options.settings.key == .portal else { return [] }
    try await BlockingQueue(label: "llavero.portal").run(
      timeout: .seconds(25), onCancel: SecretPortal.cancelled, onTimeout: SecretPortal.timedOut
    ) { (cancellable) throws(CacheError) in
      try SecretPortal(busAddress: nil, cancellable).checkBackend(cancellable)
    }
    guard RuntimeDirectory(environment: setup.environment).isShared else {
      return .ok("The Secret portal has a key for this application alone.")
    }
    return .warning(
      "This program is not in a sandbox: the Secret portal gives its key to your other programs, too.",
      advice: "Use --key portal in Flatpak or Snap. Other keys: \(KeyChoice.forms).")
  }

  /// Checks the owner and the mode of the file store's directories.
  static let sealedFiles = Check(name: "sealed_files") { setup in
    guard let store = setup.store as? EncryptedFileCacheStore else { return [] }
    let root = try store.path()
    var advice = "Use a directory of this machine: --store file:DIR"
    // The variable is for the default store.
    if case .file(directory: .some)? = setup.options.settings.address {
    } else {
      advice += ", or export XDG_DATA_HOME=…"
    }
    let shared = sharing(try store.sharing(), root, advice)
    guard FileStatus(root) != nil else {
      return shared.isEmpty
        ? .ok("There is no file store in \(root) yet; the first write makes it.") : shared
    }
    let groups = try store.path(of: nil)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: groups)) ?? []
    let directories = [root, groups] + names.sorted().map { "\(groups)/\($0)" }
    let findings =
      (directories + directories.map { "\($0)/lock" }).flatMap {
        [Finding].ofAccess(to: $0, advice: "The store does not use it. Find out which program made it.")
      } + shared
    return findings.isEmpty ? .ok("The file store in \(root) is closed to others.") : findings
  }

  private static func sharing(_ sharing: FileSharing, _ root: String, _ advice: String) -> [Finding] {
    switch sharing {
    case .machine: []
    case .network(let name):
      .warning(
        "Other machines may use \(root) (\(name)): nothing is cached, and locks are the file system's.",
        advice: advice)
    case .networkWithoutLocks(let name):
      .problem(
        "Other machines may use \(root) (\(name)), and locks may not reach them: the store is read-only.",
        advice: advice)
    }
  }

  /// Checks whether the key opens the file or etcd store. On a terminal it asks for a passphrase.
  static let sealedKey = Check(name: "store_key") { setup in
    guard let store = setup.store as? any SealedStore else { return [] }
    do throws(CacheError) {
      return try await store.open(makingStore: false) ? .ok("The key opens the store.") : []
    } catch {
      guard error.code == .locked else { return .problem(error) }
      return .warning("\(error.message) The store's contents were not checked.", advice: error.toolAdvice)
    }
  }

  static let sealedProbe = Check(name: "probe") { setup in
    // This makes no store.
    guard let store = setup.store as? any SealedStore, try await store.open(makingStore: false) else {
      return []
    }
    guard let fault = try await store.probe() else {
      return .ok("A group was written, read and removed.")
    }
    let place = store is EtcdCacheStore ? "etcd's log" : "the disk and its file system: journalctl -k"
    return .problem(fault, advice: "Check \(place)")
  }
}

extension CacheStore {
  /// Writes, reads and removes a group of its own.
  ///
  /// - Returns: What the store did wrong; `nil` where it worked.
  func probe() async throws(CacheError) -> String? {
    let group = try KeychainGroup(
      "org.llavero.probe.p\(String(UInt64.random(in: 0...UInt64.max), radix: 16))")
    // A directory stays when its files are gone.
    let directory = try (self as? EncryptedFileCacheStore)?.path(of: group)
    defer { if let directory { try? FileManager.default.removeItem(atPath: directory) } }
    do throws(CacheError) {
      return try await fault(in: group)
    } catch {
      // In a task of its own: this one may be cancelled.
      await Task {
        _ = try? await remove(.everything, in: group)
        try? await (self as? EtcdCacheStore)?.forget(group)
      }.value
      throw error
    }
  }

  private func fault(in group: KeychainGroup) async throws(CacheError) -> String? {
    let document = try CacheDocument(
      json: Data(#"{"AppMetadata": {"probe": {"client_id": "probe", "environment": "probe"}}}"#.utf8))
    let shards = document.split(in: group).map(\.shard)
    try await update(shards, in: group) { contents in
      for shard in shards { contents[shard] = document }
    }
    let read = try await read(.all, in: group).documents
    let removed = try await remove(.everything, in: group)
    try await (self as? EtcdCacheStore)?.forget(group)
    guard read.values.elementsEqual([document]) else {
      return "The store returned other data than was written."
    }
    guard removed == 1, try await !groups().contains(group) else {
      return "The store still has a group that was removed."
    }
    return nil
  }
}
