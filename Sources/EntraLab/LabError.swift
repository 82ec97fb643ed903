import FoundationEssentials

/// Why a command of a test failed.
package enum LabError: LocalizedError, Equatable, Sendable {
  case noSuch(String)
  case badCommand(String)
  case cannotStart(String)
}

extension LabError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .noSuch(let what): "Not found: \(what)."
    case .badCommand(let why): "Invalid command: \(why)"
    case .cannotStart(let why): "The lab cannot start: \(why)"
    }
  }

  package var errorDescription: String? { description }
}
