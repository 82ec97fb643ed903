package import GLibSupport
import Synchronization

extension SecretServiceConnection {
  /// The items that have all these attributes, in `collection` or, if nil, in all collections.
  ///
  /// A locked collection is never reported as empty: if nothing was found in it, the call fails with
  /// `.collectionLocked`. Do not search by `xdg:schema`: gnome-keyring does not find the items of a collection
  /// by it that was never unlocked.
  package func search(
    _ attributes: [String: String], in collection: ObjectPath?, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> FoundItems {
    try withSession(of: collection, cancellable) { (session) throws(SecretServiceError) in
      func search() throws(SecretServiceError) -> FoundItems {
        let answer = try session.call(
          ServiceInterface.service, "SearchItems", at: ServiceInterface.servicePath, on: .service,
          [.dictionary(attributes)], reply: "(aoao)", cancellable)
        guard let unlocked = answer[0].strings, let locked = answer[1].strings else {
          throw .malformedAnswer("SearchItems")
        }
        func wanted(_ paths: [String]) -> [ObjectPath] {
          let all = paths.map { ObjectPath(path: $0, owner: session.owner) }
          guard let collection else { return all }
          return all.filter { $0.isInside(collection) }
        }
        return FoundItems(unlocked: wanted(unlocked), locked: wanted(locked))
      }
      let found = try search()
      guard let collection, found.unlocked.isEmpty, found.locked.isEmpty else { return found }
      // Some services show nothing of what is locked.
      if try isLocked(collection, cancellable) { throw .collectionLocked }
      // Somebody may have unlocked it since it was searched.
      return try search()
    }
  }

  /// The secrets of these items, in one call. An item that is gone is left out.
  /// - Throws: `.collectionLocked` if one of the items is locked, or was.
  package func secrets(
    of paths: [ObjectPath], _ cancellable: Cancellable
  ) throws(SecretServiceError) -> [ObjectPath: SecretBytes] {
    do {
      return try readSecrets(of: paths, cancellable)
    } catch  where error == ServiceSession.undecodable {
      // The second try has a new session.
      return try readSecrets(of: paths, cancellable)
    }
  }

  private func readSecrets(
    of paths: [ObjectPath], _ cancellable: Cancellable
  ) throws(SecretServiceError) -> [ObjectPath: SecretBytes] {
    try withSession(cancellable) { (session) throws(SecretServiceError) in
      if paths.contains(where: { $0.owner != session.owner }) { throw .serviceGone }
      if paths.isEmpty { return [:] }
      let answer = try session.call(
        ServiceInterface.service, "GetSecrets", at: ServiceInterface.servicePath, on: .service,
        [.objectPaths(paths.map(\.path)), .objectPath(session.path)], reply: "(a{o(oayays)})", cancellable)
      let wanted = Set(paths)
      var secrets: [ObjectPath: SecretBytes] = [:]
      for entry in answer[0].children.map(\.children) {
        guard let path = entry[0].string.map({ ObjectPath(path: $0, owner: session.owner) }),
          wanted.contains(path)
        else { continue }
        secrets[path] = try session.decode(entry[1])
      }
      for path in paths where secrets[path] == nil {
        // GetSecrets leaves out locked items without a word. One that is there was locked then.
        do throws(SecretServiceError) {
          _ = try session.isLocked(path.path, ServiceInterface.item, .item, cancellable)
        } catch .noSuchItem {
          continue
        }
        throw .collectionLocked
      }
      return secrets
    }
  }

  package func item(
    _ path: ObjectPath, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> ItemProperties {
    try withSession(of: path, cancellable) { (session) throws(SecretServiceError) in
      let answer = try session.call(
        ServiceInterface.properties, "GetAll", at: path.path, on: .item, [.string(ServiceInterface.item)],
        reply: "(a{sv})", cancellable)
      guard let properties = answer[0].properties, let isLocked = properties["Locked"]?.boolean
      else { throw .malformedAnswer("GetAll") }
      guard let attributes = properties["Attributes"]?.dictionary, let label = properties["Label"]?.string
      else {
        // Of a locked item oo7 tells nothing else.
        throw isLocked ? .collectionLocked : .malformedAnswer("GetAll")
      }
      if attributes[ServiceInterface.contentType] == nil {
        session.keepsChanges.store(true, ordering: .relaxed)
      }
      if attributes[ServiceInterface.entry] != nil { session.isKeePassXC.store(true, ordering: .relaxed) }
      return ItemProperties(
        path: path, attributes: attributes, label: label,
        created: properties["Created"]?.uint64 ?? 0, modified: properties["Modified"]?.uint64 ?? 0,
        isLocked: isLocked)
    }
  }

  /// Makes a new item, in place of those with the same attributes if it is `replacing` them.
  package func create(
    label: String, attributes: [String: String], secret: SecretBytes, replacing: Bool = false,
    in collection: ObjectPath, prompt: Bool, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> ObjectPath {
    try secret.checkSize()
    let properties = Variant.properties([
      "\(ServiceInterface.item).Label": .string(label),
      "\(ServiceInterface.item).Attributes": .dictionary(attributes),
    ])
    return try withSession(of: collection, cancellable) { (session) throws(SecretServiceError) in
      try session.change { () throws(SecretServiceError) in
        let answer = try session.call(
          ServiceInterface.collection, "CreateItem", at: collection.path,
          on: .collection(name: collection.lastElement),
          [properties, session.encode(secret), .boolean(replacing)], reply: "(oo)", cancellable)
        var path = answer[0].string
        if let promptPath = answer[1].string, promptPath != ServiceInterface.noPath {
          guard prompt else { throw .promptRequired }
          session.isKeePassXC.store(true, ordering: .relaxed)
          path = try session.prompt(promptPath, cancellable).string
        }
        guard let path, path != ServiceInterface.noPath else { throw .malformedAnswer("CreateItem") }
        return ObjectPath(path: path, owner: session.owner)
      }
    }
  }

  /// Gives the item another secret.
  ///
  /// oo7 keeps what SetSecret changes in memory alone and forgets it when it ends, so there a new item takes the place
  /// of the old one. It is told by the content type, which it adds to the attributes of every item.
  /// - Returns: Where the item is now.
  @discardableResult
  package func setSecret(
    _ path: ObjectPath, _ secret: SecretBytes, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> ObjectPath {
    try secret.checkSize()
    return try withSession(of: path, cancellable) { (session) throws(SecretServiceError) in
      if !session.keepsChanges.load(ordering: .relaxed) {
        let item = try item(path, cancellable)
        if item.attributes[ServiceInterface.contentType] != nil {
          return try create(
            label: item.label, attributes: item.attributes, secret: secret, replacing: true,
            in: path.collection, prompt: false, cancellable)
        }
      }
      return try session.change { () throws(SecretServiceError) in
        _ = try session.call(
          ServiceInterface.item, "SetSecret", at: path.path, on: .item, [session.encode(secret)], reply: "()",
          cancellable)
        return path
      }
    }
  }

  /// Whether the service is known to keep what SetSecret changes. It is once an item's properties were read.
  package var keepsChanges: Bool { openedSession?.keepsChanges.load(ordering: .relaxed) ?? false }

  package func delete(
    _ path: ObjectPath, prompt: Bool, _ cancellable: Cancellable
  ) throws(SecretServiceError) {
    try withSession(of: path, cancellable) { (session) throws(SecretServiceError) in
      try session.change { () throws(SecretServiceError) in
        let answer = try session.call(
          ServiceInterface.item, "Delete", at: path.path, on: .item, [], reply: "(o)", cancellable)
        guard let promptPath = answer[0].string, promptPath != ServiceInterface.noPath else { return }
        guard prompt else { throw .promptRequired }
        session.isKeePassXC.store(true, ordering: .relaxed)
        _ = try session.prompt(promptPath, cancellable)
      }
    }
  }
}

extension ServiceSession {
  func property(
    _ name: String, of interface: String, at path: String, on target: CallTarget, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> Variant {
    let answer = try call(
      ServiceInterface.properties, "Get", at: path, on: target, [.string(interface), .string(name)],
      reply: "(v)", cancellable)
    guard let value = answer[0].unwrapped else { throw .malformedAnswer(name) }
    return value
  }

  func isLocked(
    _ path: String, _ interface: String, _ target: CallTarget, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> Bool {
    let value = try property("Locked", of: interface, at: path, on: target, cancellable)
    guard let isLocked = value.boolean else { throw .malformedAnswer("Locked") }
    return isLocked
  }
}

extension SecretBytes {
  fileprivate func checkSize() throws(SecretServiceError) {
    let limit = SecretServiceClient.maximumSecretSize
    if count > limit { throw .itemTooLarge(size: count, limit: limit) }
  }
}
