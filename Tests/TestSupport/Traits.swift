public import Testing

/// The rows of `Tests/Conformance.md` that a test shows. `Tests/conformance` reads them in the source.
public struct Conformance: TestTrait {
  public let rows: [Int]
}

/// The rows of `Tests/Faults.md` that a test shows. `Tests/conformance` reads them in the source.
public struct Faults: TestTrait {
  public let rows: [String]
}

/// The requirements of `CacheFormat.md` that a test shows. `Tests/conformance` reads them in the source.
public struct Requirements: TestTrait {
  public let numbers: [String]
}

extension Trait where Self == Requirements {
  public static func requirement(_ numbers: String...) -> Self { Requirements(numbers: numbers) }
}

extension Trait where Self == Conformance {
  public static func conformance(_ rows: Int...) -> Self { Conformance(rows: rows) }
}

extension Trait where Self == Faults {
  public static func fault(_ rows: String...) -> Self { Faults(rows: rows) }
}

/// A test's argument with a name for the log, because it is long or hard to read.
public struct Named<Value: Sendable>: Sendable, CustomTestStringConvertible {
  public let name: String
  public let value: Value

  public init(_ name: String, _ value: Value) {
    (self.name, self.value) = (name, value)
  }

  public var testDescription: String { name }
}

extension Sequence where Element: Sendable {
  /// The elements as arguments that a log shows in one line of at most 100 characters each.
  public var abbreviated: [Named<Element>] {
    map { element in
      let text = String(reflecting: element)
      return Named(text.count > 100 ? "\(text.prefix(70))… (\(text.count) characters)" : text, element)
    }
  }
}
