import SecretService

/// Whether secrets are encrypted on their way over the bus.
struct EncryptionCheck: Check {
  static let name = "encryption"

  func examine(_ patient: Patient) async throws -> [Finding] {
    let algorithms = try await patient.client.perform {
      (connection, cancellable) throws(SecretServiceError) in
      try connection.sessionAlgorithms(cancellable)
    }
    guard algorithms == "plain" else {
      return [.ok("Secrets are encrypted on the bus (\(algorithms)).")]
    }
    guard patient.options.allowsPlainSession else {
      return [.problem(SecretServiceError.encryptionRefused, advice: Failure.Message.encryptionAdvice)]
    }
    return [
      .warning(
        "The keyring refuses encryption: secrets travel over the bus in clear.",
        advice: "Who can watch this bus sees them. Use another keyring, such as gnome-keyring.")
    ]
  }
}
