public import Testing

/// The rows of `Tests/Data/conformance.md` that a test shows. `Tests/conformance` reads them in the source.
public struct Conformance: TestTrait {
  public let rows: [Int]
}

/// The rows of `Tests/Data/faults.md` that a test shows. `Tests/conformance` reads them in the source.
public struct Faults: TestTrait {
  public let rows: [String]
}

extension Trait where Self == Conformance {
  public static func conformance(_ rows: Int...) -> Self { Conformance(rows: rows) }
}

extension Trait where Self == Faults {
  public static func fault(_ rows: String...) -> Self { Faults(rows: rows) }
}
