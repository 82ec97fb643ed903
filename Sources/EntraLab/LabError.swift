/// Why the lab could not do what a test asked it to.
package enum LabError: Error, Equatable, Sendable {
  case noSuch(String)
  case badCommand(String)
  case cannotStart(String)
}

extension LabError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .noSuch(let what): "There is no \(what)."
    case .badCommand(let why): "The command cannot be understood: \(why)"
    case .cannotStart(let why): "The lab cannot start: \(why)"
    }
  }
}
