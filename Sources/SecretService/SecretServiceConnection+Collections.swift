import CGLib
package import GLibSupport

extension SecretServiceConnection {
  /// The collection with this label or last path element; nil is the service's default collection.
  package func collection(
    named name: String?, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> CollectionProperties {
    guard let name else {
      let path = try defaultCollection(cancellable)
      return try withSession(of: path, cancellable) { (session) throws(SecretServiceError) in
        try session.collection(path.path, name: "default", cancellable)
      }
    }
    let all = try onceThere(cancellable) { () throws(SecretServiceError) in
      let all = try collections(cancellable)
      return all.isEmpty ? nil : all
    }
    guard let all else { throw .noSuchCollection(name) }
    if let found = all.first(where: { $0.path.lastElement == name }) { return found }
    if let found = all.first(where: { $0.label == name }) { return found }
    throw .noSuchCollection(name)
  }

  /// Where the collection is. It may be that the default one is not there, which the first call on it says.
  package func path(
    ofCollection name: String?, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> ObjectPath {
    guard name != nil else { return try defaultCollection(cancellable) }
    return try collection(named: name, cancellable).path
  }

  /// Where the collection is, unless it is locked. KeePassXC answers no search before a locked database was opened.
  package func path(
    ofUnlockedCollection name: String?, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> ObjectPath {
    let path = try path(ofCollection: name, cancellable)
    if try isLocked(path, cancellable) { throw .collectionLocked }
    return path
  }

  package func collections(_ cancellable: Cancellable) throws(SecretServiceError) -> [CollectionProperties] {
    try withSession(cancellable) { (session) throws(SecretServiceError) in
      let value = try session.property(
        "Collections", of: ServiceInterface.service, at: ServiceInterface.servicePath, on: .service,
        cancellable)
      guard let paths = value.strings else { throw .malformedAnswer("Collections") }
      var result: [CollectionProperties] = []
      for path in paths {
        do throws(SecretServiceError) {
          result.append(try session.collection(path, cancellable))
        } catch .noSuchCollection {
          // Deleted since the list was made.
        }
      }
      return result
    }
  }

  package func isLocked(
    _ collection: ObjectPath, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> Bool {
    try withSession(of: collection, cancellable) { (session) throws(SecretServiceError) in
      try session.isLocked(
        collection.path, ServiceInterface.collection, .collection(name: collection.lastElement), cancellable)
    }
  }

  /// Unlocks the collection. With `prompt` the service may ask the user. The user has until the deadline;
  /// afterwards the prompt stays open, and the collection may still become unlocked.
  ///
  /// KWallet calls a wallet that is open locked until a program has asked for it, by a prompt that shows nothing.
  /// Such a prompt needs no permission.
  package func unlock(
    _ collection: ObjectPath, prompt: Bool, _ cancellable: Cancellable
  ) throws(SecretServiceError) {
    try withSession(of: collection, cancellable) { (session) throws(SecretServiceError) in
      // When several programs ask at once, KWallet dismisses prompts that nobody saw.
      for isLastAttempt in [false, false, false, false, true] {
        let isOpenWallet = try session.isOpenWallet(collection, cancellable)
        do throws(SecretServiceError) {
          let isUnlocked = try session.unlock(
            [collection], on: .collection(name: collection.lastElement), prompt: prompt,
            asksNobody: isOpenWallet, cancellable)
          guard isUnlocked else { throw .collectionLocked }
          return
        } catch .promptDismissed {
          guard isOpenWallet, !isLastAttempt else { throw .promptDismissed }
        }
      }
    }
  }

  /// Unlocks items of an unlocked collection, which a search found locked; see ``unlock(_:prompt:_:)``.
  package func unlock(
    items: [ObjectPath], prompt: Bool, _ cancellable: Cancellable
  ) throws(SecretServiceError) {
    guard let first = items.first else { return }
    try withSession(of: first, cancellable) { (session) throws(SecretServiceError) in
      guard try session.unlock(items, on: .item, prompt: prompt, asksNobody: false, cancellable) else {
        throw .itemsLocked(items)
      }
    }
  }

  private func defaultCollection(_ cancellable: Cancellable) throws(SecretServiceError) -> ObjectPath {
    let path = try onceThere(cancellable) { () throws(SecretServiceError) in
      try withSession(cancellable) { (session) throws(SecretServiceError) -> ObjectPath? in
        let answer = try session.call(
          ServiceInterface.service, "ReadAlias", at: ServiceInterface.servicePath, on: .service,
          [.string("default")], reply: "(o)", cancellable)
        guard let path = answer[0].string else { throw .malformedAnswer("ReadAlias") }
        return path == ServiceInterface.noPath ? nil : ObjectPath(path: path, owner: session.owner)
      }
    }
    guard let path else { throw .noSuchCollection("default") }
    return path
  }

  /// What `find` finds, which may take a second: oo7 has the service's name before it has collections.
  private func onceThere<T>(
    _ cancellable: Cancellable, _ find: () throws(SecretServiceError) -> T?
  ) throws(SecretServiceError) -> T? {
    for _ in 0..<20 {
      if let found = try find() { return found }
      g_usleep(50_000)
    }
    return try find()
  }
}

extension ServiceSession {
  /// Unlocks collections or items. Where `asksNobody`, the service's prompt shows nothing and needs no permission.
  ///
  /// - Returns: Whether all of them are unlocked now.
  fileprivate func unlock(
    _ objects: [ObjectPath], on target: CallTarget, prompt: Bool, asksNobody: Bool, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> Bool {
    let paths = Set(objects.map(\.path))
    let answer = try call(
      ServiceInterface.service, "Unlock", at: ServiceInterface.servicePath, on: target,
      [.objectPaths(objects.map(\.path))], reply: "(aoo)", cancellable)
    guard let unlocked = answer[0].strings, let promptPath = answer[1].string else {
      throw .malformedAnswer("Unlock")
    }
    if paths.isSubset(of: unlocked) { return true }
    guard promptPath != ServiceInterface.noPath, prompt || asksNobody else { return false }
    if !asksNobody, try lacksDisplay(cancellable) { throw .noDisplay }
    let result = try self.prompt(promptPath, cancellable)
    guard let later = result.strings else { throw .malformedAnswer("Unlock") }
    return paths.isSubset(of: unlocked + later)
  }

  /// Whether the service is KWallet and the collection a wallet that is open.
  ///
  /// Since KDE Frameworks 6.14 the service is ksecretd, and what tells of wallets is another program, kwalletd6, which is
  /// asked if it runs. That of a desktop with another service says nothing of the service's collections.
  fileprivate func isOpenWallet(
    _ collection: ObjectPath, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> Bool {
    let target = CallTarget.collection(name: collection.lastElement)
    let label = try property(
      "Label", of: ServiceInterface.collection, at: collection.path, on: target, cancellable)
    guard let wallet = label.string else { throw .malformedAnswer("Label") }
    func isOpen(_ program: String) -> Bool {
      ["/modules/kwalletd5", "/modules/kwalletd6"].contains { path in
        let answer = try? bus.call(
          program, path, "org.kde.KWallet", "isOpen", [.string(wallet)], reply: "(b)", cancellable)
        return answer?.first?.boolean == true
      }
    }
    func program(_ name: String) -> String? {
      try? askBus("GetNameOwner", [.string(name)], "(s)", cancellable)?.string
    }
    if isOpen(owner) { return true }
    guard program("org.kde.ksecretd") == owner else { return false }
    return ["org.kde.kwalletd6", "org.kde.kwalletd5"].compactMap(program).contains(where: isOpen)
  }

  fileprivate func collection(
    _ path: String, name: String? = nil, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> CollectionProperties {
    let objectPath = ObjectPath(path: path, owner: owner)
    let target = CallTarget.collection(name: name ?? objectPath.lastElement)
    // Not GetAll: that would bring the paths of all items too.
    let label = try property("Label", of: ServiceInterface.collection, at: path, on: target, cancellable)
    let isLocked = try isLocked(path, ServiceInterface.collection, target, cancellable)
    guard let label = label.string else { throw .malformedAnswer("Label") }
    return CollectionProperties(path: objectPath, label: label, isLocked: isLocked)
  }
}
