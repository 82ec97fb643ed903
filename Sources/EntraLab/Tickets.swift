/// Values by unguessable generated names. The oldest are removed when there are too many.
struct Tickets<Value: Sendable>: Sendable {
  private static var capacity: Int { 10_000 }

  private var values: [String: Value] = [:]
  private var order: [String] = []

  subscript(name: String) -> Value? {
    get { values[name] }
    set {
      if values[name] == nil, newValue != nil { order.append(name) }
      values[name] = newValue
      if order.count > 2 * Self.capacity {
        for old in order.prefix(Self.capacity) { values[old] = nil }
        order.removeFirst(Self.capacity)
      }
    }
  }

  mutating func insert(_ value: Value) -> String {
    let name = randomSecret()
    self[name] = value
    return name
  }

  var names: [String] { order.filter { values[$0] != nil } }
}
