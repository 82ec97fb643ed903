package import GLibSupport
import Synchronization

extension SecretServiceConnection {
  /// Finds the items that have all of these attributes, and perhaps others; in all collections for `nil`. A locked collection is
  /// never reported as empty.
  ///
  /// Leave `xdg:schema` out: gnome-keyring does not find items by it in a collection that was never unlocked.
  package func search(
    _ attributes: [String: String], in collection: ObjectPath?, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> FoundItems {
    let session = try session(of: collection, cancellable)
    func search() throws(SecretServiceError) -> FoundItems {
      let reply = try session.call("SearchItems", [.dictionary(attributes)], reply: "(aoao)", cancellable)
      guard let unlocked = reply[0].strings, let locked = reply[1].strings else {
        throw .malformedResponse("SearchItems")
      }
      func wanted(_ paths: [String]) -> [ObjectPath] {
        let all = paths.map { ObjectPath(path: $0, owner: session.owner) }
        guard let collection else { return all }
        return all.filter { $0.path.hasPrefix(collection.path + "/") }
      }
      return FoundItems(unlocked: wanted(unlocked), locked: wanted(locked))
    }
    let found = try search()
    guard let collection, found.unlocked.isEmpty, found.locked.isEmpty else { return found }
    // Some services show nothing of what is locked.
    if try isLocked(collection, cancellable) { throw .collectionLocked }
    // It may have been unlocked after the search.
    return try search()
  }

  /// All items of a collection. KWallet finds those without attributes by no search.
  package func items(of collection: ObjectPath, _ cancellable: Cancellable) throws(SecretServiceError)
    -> [ObjectPath]
  {
    let session = try session(of: collection, cancellable)
    return try session.property("Items", of: .collection(collection), \.strings, cancellable)
      .map { ObjectPath(path: $0, owner: session.owner) }
  }

  /// Reads the secrets of these items. An item that no longer exists is left out.
  /// - Throws: `.collectionLocked` if one of the items is locked, or was.
  package func secrets(
    of paths: [ObjectPath], _ cancellable: Cancellable
  ) throws(SecretServiceError) -> [ObjectPath: SecretBytes] {
    var secrets: [ObjectPath: SecretBytes] = [:]
    try readSecrets(of: paths, cancellable) { found, _ in secrets.merge(found) { first, _ in first } }
    return secrets
  }

  /// The same, in several calls. The bus ends the connection of a service that responds with more than 64 MiB, and gnome-keyring
  /// ends with less, so that a call is for as many items as would be 16 MiB if they were as large as the largest before, and for
  /// at most eight times as many as the last.
  ///
  /// `use` takes what a call brought, and whether it was the last.
  package func readSecrets(
    of paths: [ObjectPath], _ cancellable: Cancellable,
    _ use: (_ found: [ObjectPath: SecretBytes], _ isLast: Bool) -> Void
  ) throws(SecretServiceError) {
    var (rest, step, largest) = (paths[...], 2, 1)
    repeat {
      let found = try secretsAtOnce(of: Array(rest.prefix(step)), cancellable)
      rest = rest.dropFirst(step)
      largest = found.values.map(\.count).reduce(largest, max)
      // The keyring takes long to find many items, which leaves time for those it found.
      step = min(125, 8 * step, max((16 << 20) / largest, 1))
      use(found, rest.isEmpty)
    } while !rest.isEmpty
  }

  private func secretsAtOnce(
    of paths: [ObjectPath], _ cancellable: Cancellable
  ) throws(SecretServiceError) -> [ObjectPath: SecretBytes] {
    let wanted = Set(paths)
    var isSecondTry = false
    while true {
      let session = try session(cancellable)
      let encrypted = try session.encryptedSession(cancellable)
      if paths.contains(where: { $0.owner != session.owner }) { throw .serviceGone }
      if paths.isEmpty { return [:] }
      var secrets: [ObjectPath: SecretBytes] = [:]
      do throws(SecretServiceError) {
        let reply = try session.call(
          "GetSecrets", [.objectPaths(paths.map(\.path)), .objectPath(encrypted.path)],
          reply: "(a{o(oayays)})", cancellable)
        for entry in reply[0].children.map(\.children) {
          guard let path = entry[0].string.map({ ObjectPath(path: $0, owner: session.owner) }),
            wanted.contains(path)
          else { continue }
          secrets[path] = encrypted.decode(entry[1])
          if secrets[path] == nil { throw session.recorded(ServiceSession.undecodable) }
        }
      } catch  where error == ServiceSession.undecodable && !isSecondTry {
        // The second try has a new session.
        isSecondTry = true
        continue
      } catch .refused(let name, let message) where name == ServiceSession.invalidArguments {
        // KWallet refuses the whole call for one item that is gone.
        var present: [ObjectPath] = []
        for path in paths where try isLocked(path, session, cancellable) != nil { present.append(path) }
        guard present.count < paths.count else { throw .refused(name: name, message: message) }
        return try secretsAtOnce(of: present, cancellable)
      }
      for path in paths where secrets[path]?.count ?? 0 == 0 {
        guard let isLocked = try isLocked(path, session, cancellable) else { continue }
        // GetSecrets silently leaves out locked items; of a closed wallet, KWallet gives empty secrets. An item that exists
        // and was left out was locked then.
        if isLocked || secrets[path] == nil { throw .collectionLocked }
      }
      return secrets
    }
  }

  /// Whether an item is locked; `nil` for one that is gone.
  private func isLocked(
    _ item: ObjectPath, _ session: ServiceSession, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> Bool? {
    do throws(SecretServiceError) {
      return try session.property("Locked", of: .item(item), \.boolean, cancellable)
    } catch .noSuchItem {
      return nil
    }
  }

  /// `nil` for an item that is gone.
  package func item(
    _ path: ObjectPath, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> ItemProperties? {
    let session = try session(of: path, cancellable)
    let reply: [Variant]
    do {
      reply = try session.call(
        "GetAll", of: ServiceInterface.properties, on: .item(path), [.string(ServiceInterface.item)],
        reply: "(a{sv})", cancellable)
    } catch .noSuchItem {
      return nil
    }
    guard let properties = reply[0].properties, let isLocked = properties["Locked"]?.boolean
    else { throw .malformedResponse("GetAll") }
    guard let attributes = properties["Attributes"]?.dictionary, let label = properties["Label"]?.string
    else {
      // oo7 reports nothing else of a locked item.
      throw isLocked ? .collectionLocked : .malformedResponse("GetAll")
    }
    if attributes[ServiceInterface.contentType] == nil {
      session.keepsChanges.store(true, ordering: .relaxed)
    }
    if attributes[ServiceInterface.entry] != nil { session.isKeePassXC.store(true, ordering: .relaxed) }
    return ItemProperties(
      path: path, attributes: attributes, label: label, modified: properties["Modified"]?.uint64 ?? 0,
      isLocked: isLocked)
  }

  /// Makes a new item, in place of those with the same attributes if it is `replacing` them. Not every service encrypts the label
  /// and the attributes.
  package func create(
    label: String, attributes: [String: String], secret: SecretBytes, replacing: Bool = false,
    in collection: ObjectPath, prompt: Bool, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> ObjectPath {
    try secret.checkSize()
    let properties = Variant.properties([
      "\(ServiceInterface.item).Label": .string(label),
      "\(ServiceInterface.item).Attributes": .dictionary(attributes),
    ])
    let session = try session(of: collection, cancellable)
    let encoded = try session.encryptedSession(cancellable).encode(secret)
    let endChange = session.beginChange()
    defer { endChange() }
    let reply = try session.call(
      "CreateItem", on: .collection(collection), [properties, encoded, .boolean(replacing)], reply: "(oo)",
      cancellable)
    let result = try session.result(ofPrompt: reply[1], isAllowed: prompt, cancellable)
    guard let path = (result ?? reply[0]).string, path != ServiceInterface.noPath else {
      throw .malformedResponse("CreateItem")
    }
    return ObjectPath(path: path, owner: session.owner)
  }

  /// Gives the item another secret.
  ///
  /// oo7 keeps what SetSecret changes in memory only and forgets it when it ends, so there a new item replaces the old
  /// one. oo7 is recognized by the content type, which it adds to the attributes of every item.
  /// - Returns: Where the item is now.
  @discardableResult
  package func setSecret(
    _ path: ObjectPath, _ secret: SecretBytes, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> ObjectPath {
    try secret.checkSize()
    let session = try session(of: path, cancellable)
    if !session.keepsChanges.load(ordering: .relaxed), let item = try item(path, cancellable),
      item.attributes[ServiceInterface.contentType] != nil
    {
      return try create(
        label: item.label, attributes: item.attributes, secret: secret, replacing: true, in: path.collection,
        prompt: false, cancellable)
    }
    let encoded = try session.encryptedSession(cancellable).encode(secret)
    let endChange = session.beginChange()
    defer { endChange() }
    _ = try session.call("SetSecret", on: .item(path), [encoded], reply: "()", cancellable)
    return path
  }

  /// Whether the service is known to keep what SetSecret changes; false until an item's properties were read.
  package var keepsChanges: Bool { openSession?.keepsChanges.load(ordering: .relaxed) ?? false }

  /// Deletes an item. One that is gone already is as good.
  ///
  /// - Returns: Whether the item existed.
  @discardableResult
  package func delete(
    _ path: ObjectPath, prompt: Bool, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> Bool {
    let session = try session(of: path, cancellable)
    do throws(SecretServiceError) {
      let endChange = session.beginChange()
      defer { endChange() }
      let reply = try session.call("Delete", on: .item(path), [], reply: "(o)", cancellable)
      _ = try session.result(ofPrompt: reply[0], isAllowed: prompt, cancellable)
      return true
    } catch .noSuchItem {
      return false
    }
  }
}

extension ServiceSession {
  /// Shows the prompt that a change of an item needs.
  ///
  /// - Returns: The prompt's result; `nil` if the change needs none.
  fileprivate func result(
    ofPrompt path: Variant, isAllowed: Bool, _ cancellable: Cancellable
  ) throws(SecretServiceError) -> Variant? {
    guard let path = path.string, path != ServiceInterface.noPath else { return nil }
    guard isAllowed else { throw .promptRequired }
    isKeePassXC.store(true, ordering: .relaxed)
    return try result(of: show(path), cancellable)
  }
}

extension SecretBytes {
  /// - Throws: `.itemTooLarge`.
  package func checkSize() throws(SecretServiceError) {
    let limit = SecretServiceClient.maximumSecretSize
    if count > limit { throw .itemTooLarge(size: count, limit: limit) }
  }
}
