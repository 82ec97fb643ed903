public import Testing

/// A test's argument that a log shows by its name, because it is long or hard to read.
public struct Named<Value: Sendable>: Sendable, CustomTestStringConvertible {
  public let name: String
  public let value: Value

  public init(_ name: String, _ value: Value) {
    (self.name, self.value) = (name, value)
  }

  public var testDescription: String { name }
}
