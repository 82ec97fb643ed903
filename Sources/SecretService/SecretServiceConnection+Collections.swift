import CGLib
import Dispatch
package import GLibSupport
import Synchronization

extension SecretServiceConnection {
  /// The alias of the service's default collection.
  private static let defaultAlias = "default"

  /// Finds the collection with this label or last path element; nil and `default` are the service's default collection.
  package func collection(
    named name: String?, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> CollectionProperties {
    guard let name, name != Self.defaultAlias else {
      return try properties(of: defaultCollection(cancellable), name: Self.defaultAlias, cancellable)
    }
    // gnome-keyring's collection of the session, which is kept in memory, has an empty label.
    guard !name.isEmpty else { throw .noSuchCollection(name) }
    let all = try waitingForCollections(collections(cancellable), isMissing: \.isEmpty)
    let found = all.first { $0.path.lastElement == name } ?? all.first { $0.label == name }
    guard let found else { throw .noSuchCollection(name) }
    return found
  }

  /// Where the collection is. Whether the default one exists is only known after the first call on it.
  package func path(
    ofCollection name: String?, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> ObjectPath {
    guard let name, name != Self.defaultAlias else { return try defaultCollection(cancellable) }
    return try collection(named: name, cancellable).path
  }

  /// Where the collection is, unless it is locked. KeePassXC does not answer searches before a locked database is opened.
  package func path(
    ofUnlockedCollection name: String?, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> ObjectPath {
    let path = try path(ofCollection: name, cancellable)
    if try isLocked(path, cancellable) { throw .collectionLocked }
    _ = openSession?.unusedPrompts.withLock { $0.remove([path.path]) }
    return path
  }

  package func collections(_ cancellable: Cancellable) throws(SecretServiceError) -> [CollectionProperties] {
    let session = try session(cancellable)
    let paths = try session.property("Collections", of: .service, \.strings, cancellable)
    var result: [CollectionProperties] = []
    for path in paths {
      do throws(SecretServiceError) {
        result.append(try properties(of: ObjectPath(path: path, owner: session.owner), cancellable))
      } catch .noSuchCollection {
        // Deleted since the list was made.
      }
    }
    return result
  }

  private func properties(
    of collection: ObjectPath, name: String? = nil, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> CollectionProperties {
    let session = try session(of: collection, cancellable)
    let target = CallTarget.collection(collection, name: name)
    // Not GetAll, which also returns the paths of all items.
    let label = try session.property("Label", of: target, \.string, cancellable)
    let isLocked = try session.property("Locked", of: target, \.boolean, cancellable)
    return CollectionProperties(path: collection, label: label, isLocked: isLocked)
  }

  package func isLocked(
    _ collection: ObjectPath, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> Bool {
    try session(of: collection, cancellable)
      .property("Locked", of: .collection(collection), \.boolean, cancellable)
  }

  /// Unlocks the collection. With `prompt` the service may ask the user. The user has until the deadline;
  /// afterwards the prompt stays open, and the collection may still become unlocked.
  ///
  /// KWallet reports an open wallet as locked until a program has asked for it, by a prompt that shows nothing.
  /// Such a prompt needs no permission.
  package func unlock(
    _ collection: ObjectPath, prompt: Bool, _ cancellable: Cancellable
  ) throws(SecretServiceError) {
    // When several programs ask at once, KWallet dismisses prompts that were never shown.
    for isLastAttempt in [false, false, false, false, true] {
      let isOpenWallet = try isOpenWallet(collection, cancellable)
      do throws(SecretServiceError) {
        guard
          try unlock(
            [collection], .collection(collection), prompt: prompt, showsNothing: isOpenWallet, cancellable)
        else { throw .collectionLocked }
        return
      } catch .promptDismissed {
        guard isOpenWallet, !isLastAttempt else { throw .promptDismissed }
      }
    }
  }

  /// Unlocks items of an unlocked collection that a search found locked; see ``unlock(_:prompt:_:)``.
  package func unlock(
    items: [ObjectPath], prompt: Bool, _ cancellable: Cancellable
  ) throws(SecretServiceError) {
    if items.isEmpty { return }
    guard try unlock(items, .item(items[0]), prompt: prompt, showsNothing: false, cancellable) else {
      throw .itemsLocked(items)
    }
  }

  /// Unlocks collections or items, of which `target` is one. A prompt that `showsNothing` needs no permission.
  ///
  /// - Returns: Whether all of them are unlocked now.
  private func unlock(
    _ objects: [ObjectPath], _ target: CallTarget, prompt: Bool, showsNothing: Bool,
    _ cancellable: Cancellable
  ) throws(SecretServiceError) -> Bool {
    let session = try session(of: objects[0], cancellable)
    let paths = Set(objects.map(\.path))
    func isLocked() throws(SecretServiceError) -> Bool {
      try session.property("Locked", of: target, \.boolean, cancellable)
    }
    if !prompt, !showsNothing, session.unusedPrompts.withLock({ $0.contains(paths) }), try isLocked() {
      return false
    }
    let asksUser = prompt && !showsNothing
    var unlocked: [String] = []
    let shown: Prompt
    do {
      if asksUser { try cancellable.take(Prompt.making) }
      defer { if asksUser { Prompt.making.signal() } }
      // Another prompt would come after the one that is still open, and gnome-keyring shows none any more after three.
      if asksUser, let open = session.openPrompt(for: paths), try isLocked() {
        shown = open
      } else {
        let reply = try session.call(
          "Unlock", about: target, [.objectPaths(objects.map(\.path))], reply: "(aoo)", cancellable)
        guard let now = reply[0].strings, let promptPath = reply[1].string else {
          throw .malformedResponse("Unlock")
        }
        unlocked = now
        if paths.isSubset(of: unlocked) { return true }
        guard promptPath != ServiceInterface.noPath else { return false }
        guard prompt || showsNothing else {
          _ = session.unusedPrompts.withLock { $0.insert(paths) }
          return false
        }
        // A sandbox may hide which process it is.
        if !showsNothing, (try? provider(cancellable))?.cannotPrompt == true { throw .noDisplay }
        if asksUser {
          let label = try? session.property("Label", of: target, \.string, cancellable)
          let isCollection = if case .collection = target { true } else { false }
          Self.announcePrompt(isCollection ? .collection(label ?? "") : .items)
        }
        shown = session.show(promptPath, for: asksUser ? paths : nil)
      }
    }
    guard let later = try session.result(of: shown, cancellable).strings else {
      throw .malformedResponse("Unlock")
    }
    return paths.isSubset(of: unlocked + later)
  }

  /// Makes the default collection, unless it exists by now. The service asks for a password for it.
  package func makeDefaultCollection(_ cancellable: Cancellable) throws(SecretServiceError) {
    try cancellable.take(Prompt.making)
    defer { Prompt.making.signal() }
    if (try? defaultCollection(cancellable)) != nil { return }
    let session = try session(cancellable)
    // The label is that of libsecret.
    let properties = Variant.properties(["\(ServiceInterface.collection).Label": .string("Default keyring")])
    let reply = try session.call(
      "CreateCollection", [properties, .string(Self.defaultAlias)], reply: "(oo)", cancellable)
    guard let path = reply[1].string, path != ServiceInterface.noPath else { return }
    Self.announcePrompt(.newCollection)
    _ = try session.result(of: session.show(path), cancellable)
  }

  /// Whether the service is KWallet, by its names on the bus.
  package func isKWallet(_ cancellable: Cancellable) throws(SecretServiceError) -> Bool {
    try session(cancellable).owns(["org.kde.ksecretd"] + Self.walletPrograms, cancellable)
  }

  private static let walletPrograms = ["org.kde.kwalletd6", "org.kde.kwalletd5"]

  /// Whether the service is KWallet and the collection an open wallet.
  ///
  /// Since KDE Frameworks 6.14 the service is ksecretd, and another program, kwalletd6, knows which wallets are open. It
  /// is asked if it runs. With another service on the desktop it says nothing about the service's collections.
  private func isOpenWallet(
    _ collection: ObjectPath, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> Bool {
    let session = try session(of: collection, cancellable)
    let wallet = try session.property("Label", of: .collection(collection), \.string, cancellable)
    func isOpen(_ program: String) -> Bool {
      ["/modules/kwalletd5", "/modules/kwalletd6"].contains { path in
        let reply = try? session.bus.call(
          program, path, "org.kde.KWallet", "isOpen", [.string(wallet)], reply: "(b)", cancellable)
        return reply?[0].boolean == true
      }
    }
    if isOpen(session.owner) { return true }
    guard session.owns(["org.kde.ksecretd"], cancellable) else { return false }
    return Self.walletPrograms.compactMap { session.owner(of: $0, cancellable) }.contains(where: isOpen)
  }

  private func defaultCollection(_ cancellable: Cancellable) throws(SecretServiceError) -> ObjectPath {
    if let path = try waitingForCollections(defaultAlias(cancellable), isMissing: { $0 == nil }) {
      return path
    }
    if try isKWallet(cancellable) { throw .noWallet }
    let isKeePassXC = try session(cancellable).owns(["org.keepassxc.KeePassXC.MainWindow"], cancellable)
    throw isKeePassXC ? .noDatabase : .noSuchCollection(Self.defaultAlias)
  }

  /// Retries `find` for up to a second: oo7 has the service's name before it has collections.
  private func waitingForCollections<T>(
    _ find: @autoclosure () throws(SecretServiceError) -> T, isMissing: (T) -> Bool
  ) throws(SecretServiceError) -> T {
    for _ in 0..<20 {
      let found = try find()
      if !isMissing(found) { return found }
      g_usleep(50_000)
    }
    return try find()
  }

  private func defaultAlias(_ cancellable: Cancellable) throws(SecretServiceError) -> ObjectPath? {
    let session = try session(cancellable)
    let reply = try session.call("ReadAlias", [.string(Self.defaultAlias)], reply: "(o)", cancellable)
    guard let path = reply[0].string else { throw .malformedResponse("ReadAlias") }
    return path == ServiceInterface.noPath ? nil : ObjectPath(path: path, owner: session.owner)
  }
}
