import SecretService

/// Whether the collection is there and open.
struct CollectionCheck: Check {
  static let name = "collection"

  func examine(_ patient: Patient) async -> [Finding] {
    do throws(SecretServiceError) {
      return [try await finding(patient)]
    } catch {
      guard error == .noSuchCollection("default"), let provider = try? await Provider(patient.client) else {
        return [.problem(error)]
      }
      return [
        .problem(error, advice: "Log in to the desktop once. Where there is none: \(provider.unlocking)")
      ]
    }
  }

  private func finding(_ patient: Patient) async throws(SecretServiceError) -> Finding {
    let client = patient.client
    let collection = try await client.collection(named: patient.options.chosenCollection)
    let name =
      patient.options.chosenCollection == nil
      ? "The default collection, \(collection.label)," : "The collection \(collection.label)"
    guard collection.isLocked else { return .ok("\(name) is unlocked.") }
    do throws(SecretServiceError) {
      // Also without a permission: an open wallet of KWallet is only called locked.
      try await client.unlock(collection.path, prompt: patient.options.prompt)
      return .ok("\(name) is unlocked.")
    } catch  where error == .collectionLocked {
      let provider = try await Provider(client)
      guard try await PromptCheck.obstacle(patient, provider) == nil else {
        return .problem("\(name) is locked.", advice: provider.unlocking)
      }
    }
    return .warning(
      "\(name) is locked: nothing in it could be looked at.",
      advice: "Let it ask for its password: " + patient.command("doctor", "--unlock"))
  }
}
