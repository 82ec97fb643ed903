import SecretService

/// Whether the keyring could ask for its password.
struct PromptCheck: Check {
  static let name = "prompt"

  func examine(_ patient: Patient) async throws -> [Finding] {
    let provider = try await Provider(patient.client)
    guard let obstacle = try await Self.obstacle(patient, provider) else {
      return [.ok("The keyring can ask for its password.")]
    }
    return [
      .warning(
        "The keyring cannot ask for its password: \(obstacle).",
        advice: "It has to be unlocked without a dialog. \(provider.unlocking)")
    ]
  }

  /// Why no prompt could be shown, `nil` where one could.
  static func obstacle(
    _ patient: Patient, _ provider: Provider
  ) async throws(SecretServiceError) -> String? {
    guard provider.hasDisplay else { return "there is no display" }
    guard provider.isGnomeKeyring else { return nil }
    let prompter = "org.gnome.keyring.SystemPrompter"
    let hasPrompter = try await patient.client.perform {
      (connection, cancellable) throws(SecretServiceError) in
      try connection.hasOrCanStart(prompter, cancellable)
    }
    return hasPrompter ? nil : "nobody offers \(prompter), as the package gcr does"
  }
}
