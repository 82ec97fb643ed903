/// Whether the configuration file has settings that are not known, such as misspelt ones. Other commands refuse these.
struct ConfigurationCheck: Check {
  static let name = "configuration"

  func examine(_ patient: Patient) async -> [Finding] {
    Settings.current.unknown.map { [.problem($0.message, advice: $0.advice)] } ?? []
  }
}
