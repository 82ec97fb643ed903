import GLibSupport
import IdentityClient
import KeyringStore
import SecretService
import TokenCache

extension Check {
  static let sessionBus = Check(name: "session_bus") { setup in
    let isReachable = try await BlockingQueue(label: "llavero.doctor").run(
      timeout: .seconds(10), onCancel: SecretServiceError.cancelled, onTimeout: .timedOut
    ) { (cancellable) throws(SecretServiceError) in (try? BusConnection(address: nil, cancellable)) != nil }
    if isReachable { return .ok("There is a session bus.") }
    let address = setup.environment["DBUS_SESSION_BUS_ADDRESS"]
    let reason =
      address.map { "DBUS_SESSION_BUS_ADDRESS is not reachable: \($0)." }
      ?? "DBUS_SESSION_BUS_ADDRESS is not set."
    return .problem(
      "There is no D-Bus session bus. \(reason)",
      // Last, since it ends with a command.
      advice: sentences(Failure.setupAdvice, SecretServiceError.busAdvice()))
  }

  static let service = Check(name: "secret_service") { setup in
    do throws(SecretServiceError) {
      let provider = try await Provider(setup.client)
      let name = [provider.name, await provider.version()].compactMap(\.self).joined(separator: " ")
      return .ok("\(name) offers the Secret Service (process \(provider.process)).") + provider.cautions
    } catch {
      guard error == .noSecretService else { return .problem(error) }
      return .problem(
        error,
        advice: "Install one and log in again, for example: sudo apt-get install gnome-keyring. "
          + Failure.setupAdvice)
    }
  }

  static let encryption = Check(name: "encryption") { setup in
    let algorithms = try await setup.client.perform {
      (connection, cancellable) throws(SecretServiceError) in
      try connection.sessionAlgorithms(cancellable)
    }
    guard algorithms == "plain" else { return .ok("Secrets are encrypted on the bus (\(algorithms)).") }
    // KWallet encrypts by a plugin that Debian does not install with it.
    let plugin =
      try await Provider(setup.client).isKWallet
      ? "sudo apt-get install \(programFile("kwalletd6") == nil ? "libqca-qt5-2-plugins" : "libqca-qt6-plugins"), and "
        + "log in again" : nil
    guard setup.options.allowsPlainSession else {
      return .problem(SecretServiceError.encryptionRefused, advice: plugin ?? Failure.encryptionAdvice)
    }
    return .warning(
      "The keyring refuses encryption: secrets are plaintext on the bus.",
      advice: plugin
        ?? "A program that can monitor this bus sees them. Use another keyring, such as gnome-keyring.")
  }

  static let prompt = Check(name: "prompt") { setup in
    let provider = try await Provider(setup.client)
    guard let obstacle = try await obstacle(setup, provider) else {
      return .ok("The keyring can ask for its password.")
    }
    return .warning(
      "The keyring cannot ask for its password: \(obstacle).",
      advice: "It has to be unlocked without a dialog. \(provider.unlocking)")
  }

  /// Returns why no prompt can be shown; `nil` where one can.
  private static func obstacle(
    _ setup: CheckedSetup, _ provider: Provider
  ) async throws(SecretServiceError) -> String? {
    guard provider.hasDisplay else { return "there is no display" }
    guard provider.isGnomeKeyring else { return nil }
    let prompter = "org.gnome.keyring.SystemPrompter"
    let hasPrompter = try await setup.client.perform {
      (connection, cancellable) throws(SecretServiceError) in
      try connection.hasOrCanStart(prompter, cancellable)
    }
    return hasPrompter ? nil : "no program provides \(prompter), as the package gcr does"
  }

  static let collection = Check(name: "collection") { setup in
    do throws(SecretServiceError) {
      return try await lockState(setup)
    } catch {
      // The other keyrings' errors have advice of their own.
      guard error == .noSuchCollection("default"), let provider = try? await Provider(setup.client) else {
        throw error
      }
      if setup.options.unlock {
        try await setup.client.perform(setup.options.prompt) {
          (connection, cancellable) throws(SecretServiceError) in
          try connection.makeDefaultCollection(cancellable)
        }
        return try await lockState(setup)
      }
      let advice =
        try await obstacle(setup, provider) == nil
        ? "Let it ask for a password, and make one: " + setup.options.command(["doctor", "--unlock"])
        : "Log in to the desktop once. Without a desktop: \(provider.unlocking)"
      return .problem(error, advice: advice)
    }
  }

  private static func lockState(_ setup: CheckedSetup) async throws(SecretServiceError) -> [Finding] {
    let client = setup.client
    let collection = try await client.collection(named: setup.options.settings.collection)
    let name =
      setup.options.settings.collection == nil
      ? "The default collection, \(collection.label)," : "The collection \(collection.label)"
    do throws(SecretServiceError) {
      // Also without permission to prompt: KWallet reports an open wallet as locked.
      if collection.isLocked {
        let prompt = setup.options.prompt
        try await client.perform(prompt) { (connection, cancellable) throws(SecretServiceError) in
          try connection.unlock(collection.path, prompt: prompt != .denied, cancellable)
        }
      }
      return .ok("\(name) is unlocked.") + (await otherCollection(setup))
    } catch  where error == .collectionLocked {
      let provider = try await Provider(client)
      guard try await obstacle(setup, provider) == nil else {
        return .problem("\(name) is locked.", advice: provider.unlocking)
      }
    }
    return .warning(
      "\(name) is locked: its contents were not checked.",
      advice: "Let it ask for its password: " + setup.options.command(["doctor", "--unlock"]))
  }

  /// Finds the configured group in another collection: KeePassXC's default one is the database of the open tab.
  private static func otherCollection(_ setup: CheckedSetup) async -> [Finding] {
    let group = Settings.current.group ?? .default
    guard let hint = await (setup.store as? KeyringCacheStore)?.collectionHint(group) else { return [] }
    return .warning(hint, advice: nil)
  }

  /// Checks whether gnome-keyring encrypts the collection, by the beginning of its file. Locking it would show the same: one
  /// without a password opens at once. But one with a password would then be locked for all programs.
  static let password = Check(name: "password") { setup in
    // Other checks report what goes wrong here.
    guard let provider = try? await Provider(setup.client),
      let collection = try? await setup.client.collection(named: setup.options.settings.collection),
      let file = provider.plaintextFile(of: collection.path)
    else { return [] }
    return .problem(
      "\(collection.label) has no password: its tokens are in plaintext in \(file).",
      advice:
        "Give it one in Seahorse (Change Password), log in again, and sign in again: copies of the file keep the old "
        + "tokens. " + Failure.setupAdvice)
  }

  /// Checks that the keyring stores what it is given: writes, reads, changes and deletes an item of its own.
  static let probe = Check(name: "probe") { setup in
    func examine() async throws(SecretServiceError) -> [Finding] {
      let collection = try await setup.client.collection(named: setup.options.settings.collection)
      // A locked collection has been reported.
      if collection.isLocked { return [] }
      return try await probe(setup.client, collection.path, prompt: setup.options.prompt)
    }
    do throws(SecretServiceError) {
      do throws(SecretServiceError) {
        return try await examine()
      } catch .serviceGone {
        // KWallet refuses the item in about one of 256 sessions; see ServiceSession.undecodable.
        return try await examine()
      }
    } catch {
      let permitting =
        "KeePassXC prompts for every write. Permit it, for other commands with --unlock too: "
        + setup.options.command(["doctor", "--unlock"])
      return .problem(error, advice: error == .promptRequired ? permitting : nil)
    }
  }

  private static func probe(
    _ client: SecretServiceClient, _ collection: ObjectPath, prompt: PromptPermission
  ) async throws(SecretServiceError) -> [Finding] {
    let number = UInt64.random(in: 0...UInt64.max)
    let attributes = ["xdg:schema": "org.llavero.Probe", "probe": String(number, radix: 16)]
    /// Removes the item, also where its path is not known.
    func remove(_ path: ObjectPath?) async throws(SecretServiceError) {
      // In a task of its own: this one may be cancelled.
      try await Task {
        await Result.catching { () async throws(SecretServiceError) in
          let paths =
            if let path { [path] } else { try await client.search(attributes, in: collection).unlocked }
          for path in paths {
            try await client.perform(prompt) { (connection, cancellable) throws(SecretServiceError) in
              guard try connection.delete(path, prompt: prompt != .denied, cancellable) else {
                throw .noSuchItem
              }
            }
          }
        }
      }.value.get()
    }
    var path: ObjectPath
    do throws(SecretServiceError) {
      path = try await client.perform(prompt) { (connection, cancellable) throws(SecretServiceError) in
        try connection.create(
          label: "Llavero: probe", attributes: attributes, secret: SecretBytes(copying: Array("first".utf8)),
          in: collection, prompt: prompt != .denied, cancellable)
      }
    } catch {
      // A call that failed may have made the item.
      try? await remove(nil)
      throw error
    }
    let failure: [Finding]
    do throws(SecretServiceError) {
      failure = try await use(&path, client, attributes, collection)
    } catch {
      failure = .problem(error)
    }
    try await remove(path)
    guard failure.isEmpty else { return failure }
    guard try await client.search(attributes, in: collection).unlocked.isEmpty else {
      return .problem("The keyring still has an item that was deleted.", advice: otherKeyring)
    }
    return .ok("An item was written, read, changed and deleted.")
  }

  private static func use(
    _ path: inout ObjectPath, _ client: SecretServiceClient, _ attributes: [String: String],
    _ collection: ObjectPath
  ) async throws(SecretServiceError) -> [Finding] {
    guard try await client.search(attributes, in: collection).unlocked == [path] else {
      return .problem("The keyring does not find an item that was just written.", advice: otherKeyring)
    }
    let second = Array("second".utf8)
    path = try await client.perform { [path] (connection, cancellable) throws(SecretServiceError) in
      try connection.setSecret(path, SecretBytes(copying: second), cancellable)
    }
    let secrets = try await client.perform { [path] (connection, cancellable) throws(SecretServiceError) in
      try connection.secrets(of: [path], cancellable)
    }
    guard let read = secrets[path],
      unsafe read.withUnsafeBytes(Array.init) == second
    else {
      return .problem("The keyring returned other data than was written.", advice: otherKeyring)
    }
    return try await access(to: path, attributes, collection)
  }

  /// Checks whether another program, like this one at its next start, can read an item in an unlocked collection.
  private static func access(
    to path: ObjectPath, _ attributes: [String: String], _ collection: ObjectPath
  ) async throws(SecretServiceError) -> [Finding] {
    let other = SecretServiceClient(timeout: .seconds(10), allowsPlainSession: true)
    // KWallet reports a collection as locked until a program has opened it.
    guard try await !other.collection(named: collection.lastElement).isLocked,
      try await other.search(attributes, in: nil).locked.contains(path)
    else { return [] }
    return .warning(
      "The keyring asks each time a program reads an item.",
      advice: "In KeePassXC " + Failure.accessSetting)
  }

  private static let otherKeyring = "Restart the keyring, or use another one, such as gnome-keyring."
}

extension SecretServiceClient {
  fileprivate func collection(named name: String?) async throws(SecretServiceError) -> CollectionProperties {
    try await perform { (connection, cancellable) throws(SecretServiceError) in
      try connection.retryingOnce(connection.collection(named: name, cancellable))
    }
  }

  fileprivate func search(
    _ attributes: [String: String], in collection: ObjectPath?
  ) async throws(SecretServiceError) -> FoundItems {
    try await perform { (connection, cancellable) throws(SecretServiceError) in
      try connection.retryingOnce(connection.search(attributes, in: collection, cancellable))
    }
  }
}

extension Provider {
  init(_ client: SecretServiceClient) async throws(SecretServiceError) {
    self = try await client.perform { (connection, cancellable) throws(SecretServiceError) in
      try connection.retryingOnce(connection.provider(cancellable))
    }
  }

  /// Warnings about known behaviour of the provider.
  fileprivate var cautions: [Finding] {
    var findings: [Finding] = []
    if isKWallet {
      findings += .warning(
        "KWallet writes to its file after five seconds without a change: a save is lost when it is killed before.",
        advice: "Log out or close the wallet before the machine is switched off.")
    } else if name == "keepassxc" {
      findings += .warning(
        "KeePassXC can crash when other programs write while it saves after a change: saves since then are lost.",
        advice:
          "If other programs write, turn off AutoSaveAfterEveryChange (Settings, General, File Management).")
    }
    for rival in rivals {
      let bus = rival.busAddress.map { ": export DBUS_SESSION_BUS_ADDRESS=\(shellQuoted($0))" } ?? "."
      findings += .warning(
        "Another \(name) of yours (process \(rival.process)) has the same files: each undoes what the other saves.",
        advice: "End one of them, and use the bus of the other in all sessions" + bus)
    }
    return findings
  }

  /// How to unlock it, or to make its first collection, where it cannot prompt.
  var unlocking: String {
    guard isGnomeKeyring else { return "Unlock it with the keyring's own program, or at login by PAM." }
    return #"(read -rsp "Password: " p; printf %s "$p") | gnome-keyring-daemon --replace --unlock"#
  }

  /// Returns the version of the provider if it is one of the system's programs that report it. No other program is started: it
  /// may be any program. Another root, such as a container's, has another file at the same path.
  func version() async -> String? {
    guard let path = ["/usr/bin/gnome-keyring-daemon", "/usr/bin/keepassxc"].first(where: runs) else {
      return nil
    }
    let queue = BlockingQueue(label: "llavero.doctor")
    let output = try? await queue.run(
      timeout: .seconds(5), onCancel: GLibError.unexplained, onTimeout: GLibError.unexplained
    ) { (cancellable) throws(GLibError) in
      // Qt programs need a display even for this.
      try outputOfCommand(
        [path, "--version"], variables: ["QT_QPA_PLATFORM": "offscreen"], cancellable)
    }
    let words = output?.split(whereSeparator: \.isWhitespace) ?? []
    return words.first { $0.first?.isNumber == true }.map(String.init)
  }
}
