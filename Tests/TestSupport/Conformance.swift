public import Testing

/// The rows of `Tests/Conformance.md` that a test shows. `Tests/conformance` reads them in the source.
public struct Conformance: TestTrait {
  public let rows: [Int]
}

extension Trait where Self == Conformance {
  public static func conformance(_ rows: Int...) -> Self { Conformance(rows: rows) }
}
