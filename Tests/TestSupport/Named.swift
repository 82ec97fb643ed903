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

extension Sequence where Element: Sendable {
  /// The elements as arguments that a log shows in one line of at most 100 characters each.
  public var abbreviated: [Named<Element>] {
    map { element in
      let text = String(reflecting: element)
      return Named(text.count > 100 ? "\(text.prefix(70))… (\(text.count) characters)" : text, element)
    }
  }
}
