import SecretService

/// Whether the keyring keeps what it is given: writes, reads, changes and deletes an item of its own.
struct ProbeCheck: Check {
  static let name = "probe"

  func examine(_ patient: Patient) async -> [Finding] {
    do throws(SecretServiceError) {
      let collection = try await patient.client.collection(named: patient.options.chosenCollection)
      // What is locked has been reported.
      if collection.isLocked { return [] }
      return [try await probe(patient.client, collection.path, prompt: patient.options.prompt)]
    } catch {
      let permitting =
        "KeePassXC does so for every write. Permit it, with --unlock for other commands too: "
        + patient.command("doctor", "--unlock")
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
        "The keyring still has an item that it was told to delete.", advice: Self.advice)
    }
    return .ok("An item was written, read, changed and deleted.")
  }

  private func use(
    _ path: inout ObjectPath, _ client: SecretServiceClient, _ attributes: [String: String],
    _ collection: ObjectPath
  ) async throws(SecretServiceError) -> Finding? {
    guard try await client.search(attributes, in: collection).unlocked == [path] else {
      return .problem("The keyring does not find an item that it has just taken.", advice: Self.advice)
    }
    let second = Array("second".utf8)
    path = try await client.setSecret(SecretBytes(copying: second), of: path)
    guard let read = try await client.secrets(of: [path])[path],
      unsafe read.withUnsafeBytes(Array.init) == second
    else {
      return .problem("The keyring gives back other data than it was given.", advice: Self.advice)
    }
    return try await access(to: path, attributes, collection)
  }

  /// Why another program, as this one will be the next time, cannot read an item in an unlocked collection.
  private func access(
    to path: ObjectPath, _ attributes: [String: String], _ collection: ObjectPath
  ) async throws(SecretServiceError) -> Finding? {
    let other = SecretServiceClient(timeout: .seconds(10), allowsPlainSession: true)
    // KWallet calls a collection locked until a program has asked for it.
    guard try await !other.collection(named: collection.lastElement).isLocked,
      try await other.search(attributes).locked.contains(path)
    else { return nil }
    return .warning(
      "The keyring asks each time a program wants to read an item.",
      advice: "In KeePassXC " + Failure.Message.accessSetting)
  }

  private static let advice = "Restart the keyring, or use another one, such as gnome-keyring."
}
