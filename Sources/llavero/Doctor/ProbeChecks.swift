import EncryptedFileStore
import EtcdStore
import FoundationEssentials
import Sealing
import SecretService
import TokenCache

/// Checks that the keyring stores what it is given: writes, reads, changes and deletes an item of its own.
struct ProbeCheck: Check {
  static let name = "probe"

  func examine(_ setup: CheckedSetup) async -> [Finding] {
    do throws(SecretServiceError) {
      let collection = try await setup.client.collection(named: setup.options.settings.collection)
      // A locked collection has been reported.
      if collection.isLocked { return [] }
      return [try await probe(setup.client, collection.path, prompt: setup.options.prompt)]
    } catch {
      let permitting =
        "KeePassXC prompts for every write. Permit it, for other commands with --unlock too: "
        + setup.command("doctor", "--unlock")
      return [.problem(error, advice: error == .promptRequired ? permitting : nil)]
    }
  }

  private func probe(
    _ client: SecretServiceClient, _ collection: ObjectPath, prompt: PromptPermission
  ) async throws(SecretServiceError) -> Finding {
    let number = UInt64.random(in: 0...UInt64.max)
    let attributes = ["xdg:schema": "org.llavero.Probe", "probe": String(number, radix: 16)]
    var path = try await client.create(
      label: "Llavero: probe", attributes: attributes, secret: SecretBytes(copying: Array("first".utf8)),
      in: collection, prompt: prompt)
    let failure: Finding?
    do throws(SecretServiceError) {
      failure = try await use(&path, client, attributes, collection)
    } catch {
      failure = .problem(error)
    }
    try await client.delete(path, prompt: prompt)
    if let failure { return failure }
    guard try await client.search(attributes, in: collection).unlocked.isEmpty else {
      return .problem(
        "The keyring still has an item that was deleted.", advice: Self.advice)
    }
    return .ok("An item was written, read, changed and deleted.")
  }

  private func use(
    _ path: inout ObjectPath, _ client: SecretServiceClient, _ attributes: [String: String],
    _ collection: ObjectPath
  ) async throws(SecretServiceError) -> Finding? {
    guard try await client.search(attributes, in: collection).unlocked == [path] else {
      return .problem("The keyring does not find an item that was just written.", advice: Self.advice)
    }
    let second = Array("second".utf8)
    path = try await client.setSecret(SecretBytes(copying: second), of: path)
    guard let read = try await client.secrets(of: [path])[path],
      unsafe read.withUnsafeBytes(Array.init) == second
    else {
      return .problem("The keyring returned other data than was written.", advice: Self.advice)
    }
    return try await access(to: path, attributes, collection)
  }

  /// Checks whether another program, like this one at its next start, can read an item in an unlocked collection.
  private func access(
    to path: ObjectPath, _ attributes: [String: String], _ collection: ObjectPath
  ) async throws(SecretServiceError) -> Finding? {
    let other = SecretServiceClient(timeout: .seconds(10), allowsPlainSession: true)
    // KWallet reports a collection as locked until a program has opened it.
    guard try await !other.collection(named: collection.lastElement).isLocked,
      try await other.search(attributes).locked.contains(path)
    else { return nil }
    return .warning(
      "The keyring asks each time a program reads an item.",
      advice: "In KeePassXC " + Failure.Message.accessSetting)
  }

  private static let advice = "Restart the keyring, or use another one, such as gnome-keyring."
}

/// Checks that a file or etcd store keeps what it is given: writes, reads and removes a group of its own.
struct SealedProbeCheck: Check {
  static let name = "probe"

  let store: any SealedStore

  func examine(_ setup: CheckedSetup) async throws -> [Finding] {
    // This makes no store.
    guard try await store.open(makingStore: false) else { return [] }
    guard let fault = try await StoreProbe(store).run() else {
      return [.ok("A group was written, read and removed.")]
    }
    let place = store is EtcdCacheStore ? "etcd's log" : "the disk and its file system: journalctl -k"
    return [.problem(fault, advice: "Check \(place)")]
  }
}

/// Writes, reads and removes a group of its own.
struct StoreProbe {
  private let group: KeychainGroup
  private let store: any CacheStore

  init(_ store: any CacheStore) throws(CacheError) {
    self.store = store
    group = try KeychainGroup("org.llavero.probe.p\(String(UInt64.random(in: 0...UInt64.max), radix: 16))")
  }

  /// - Returns: What the store did wrong; `nil` where it worked.
  func run() async throws(CacheError) -> String? {
    // A directory stays when its files are gone.
    let directory = try (store as? EncryptedFileCacheStore)?.path(of: group)
    defer { if let directory { try? FileManager.default.removeItem(atPath: directory) } }
    do throws(CacheError) {
      return try await fault()
    } catch {
      _ = try? await store.remove(.everything, in: group)
      try? await (store as? EtcdCacheStore)?.forget(group)
      throw error
    }
  }

  private func fault() async throws(CacheError) -> String? {
    let document = try CacheDocument(
      json: Data(#"{"AppMetadata": {"probe": {"client_id": "probe", "environment": "probe"}}}"#.utf8))
    let shards = document.split(in: group).map(\.shard)
    try await store.update(shards, in: group) { contents in
      for shard in shards { contents[shard] = document }
    }
    let read = try await store.read(.all, in: group).documents
    let removed = try await store.remove(.everything, in: group)
    try await (store as? EtcdCacheStore)?.forget(group)
    guard read.values.elementsEqual([document]) else {
      return "The store returned other data than was written."
    }
    guard removed == 1, try await !store.groups().contains(group) else {
      return "The store still has a group that was removed."
    }
    return nil
  }
}
