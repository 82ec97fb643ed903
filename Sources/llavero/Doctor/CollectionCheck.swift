import SecretService

/// Whether the collection is there and open.
struct CollectionCheck: Check {
  static let name = "collection"

  func examine(_ patient: Patient) async -> [Finding] {
    do throws(SecretServiceError) {
      return [try await finding(patient)]
    } catch {
      let making = "Log in to the desktop once. Where there is none, \(PromptCheck.unlocking)"
      return [.problem(error, advice: error == .noSuchCollection("default") ? making : nil)]
    }
  }

  private func finding(_ patient: Patient) async throws(SecretServiceError) -> Finding {
    let client = patient.client
    let collection = try await client.collection(named: patient.collection)
    let name =
      patient.collection == nil
      ? "The default collection, \(collection.label)," : "The collection \(collection.label)"
    guard collection.isLocked else { return .ok("\(name) is unlocked.") }
    if patient.mayUnlock {
      try await client.unlock(collection.path, prompt: .allowed(waitingUpTo: .seconds(120)))
      return .ok("\(name) was unlocked.")
    }
    guard try await PromptCheck.obstacle(patient) == nil else {
      return .problem("\(name) is locked.", advice: PromptCheck.unlocking)
    }
    return .warning(
      "\(name) is locked: nothing in it could be looked at.",
      advice: "Let it ask for its password: llavero doctor --unlock")
  }
}
