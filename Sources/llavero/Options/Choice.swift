import ArgumentParser

/// An option's value that is one of several names.
///
/// ArgumentParser's own list of the names is made with key paths and a dictionary of descriptions, at every start.
protocol Choice: ExpressibleByArgument, CaseIterable, RawRepresentable where RawValue == String {}

extension Choice {
  static var allValueStrings: [String] { allCases.map { $0.rawValue } }
  static var allValueDescriptions: [String: String] { [:] }
}
