import FoundationEssentials

/// Whether there are certificates to trust.
struct CABundleCheck: Check {
  static let name = "ca_bundle"

  private static let systemDirectory = "/etc/ssl/certs"

  func examine(_ patient: Patient) async -> [Finding] {
    let own = patient.environment["SSL_CERT_FILE"].flatMap { $0.isEmpty ? nil : $0 }
    guard let path = Settings.current.caBundle ?? own else { return [systemStore] }
    let advice = "Name a PEM file with certificates in LLAVERO_CA_BUNDLE, or none to trust the system's."
    do throws(Failure.Message) {
      let text = String(decoding: try InputFile.read(path), as: UTF8.self)
      guard text.contains("-----BEGIN CERTIFICATE-----") else {
        return [.problem("The CA bundle \(path) holds no certificate.", advice: advice)]
      }
      return [.ok("The certificates in \(path) are trusted, and no others.")]
    } catch {
      return [.problem("The CA bundle: \(error.message)", advice: advice)]
    }
  }

  private var systemStore: Finding {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: Self.systemDirectory)) ?? []
    if !files.isEmpty { return .ok("The system's certificates are trusted.") }
    return .warning(
      "The system has no certificates in \(Self.systemDirectory): no server can be trusted.",
      advice: "sudo apt-get install ca-certificates")
  }
}
