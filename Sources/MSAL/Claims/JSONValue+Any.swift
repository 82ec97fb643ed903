import Foundation
import TokenCache

extension JSONValue {
  /// The value as `JSONSerialization` would have read it: numbers and booleans as `NSNumber`, so that both
  /// `as? Int` and `as? Double` succeed, and `NSNull` for `null`.
  var object: Any {
    switch self {
    case .null: NSNull()
    case .bool(let truth): NSNumber(value: truth)
    case .integer(let number): NSNumber(value: number)
    case .decimal(let number): NSDecimalNumber(decimal: number)
    case .double(let number): NSNumber(value: number)
    case .string(let text): text
    case .array(let elements): elements.map(\.object)
    case .object(let members): members.mapValues(\.object)
    }
  }

  /// Takes what `JSONSerialization` would write; `nil` for anything else.
  init?(_ object: Any) {
    switch object {
    case is NSNull: self = .null
    case let text as String: self = .string(text)
    case let number as NSNumber: self.init(number: number)
    case let elements as [Any]:
      var values: [JSONValue] = []
      for element in elements {
        guard let value = JSONValue(element) else { return nil }
        values.append(value)
      }
      self = .array(values)
    case let members as [String: Any]:
      var values: JSONObject = [:]
      for (name, member) in members {
        guard let value = JSONValue(member) else { return nil }
        values[name] = value
      }
      self = .object(values)
    default: return nil
    }
  }

  private init?(number: NSNumber) {
    // Booleans are numbers of a class of their own.
    if type(of: number) == type(of: NSNumber(value: true)) {
      self = .bool(number.boolValue)
    } else if let integer = Int64(exactly: number) {
      self = .integer(integer)
    } else if number.doubleValue.isFinite {
      self = number is NSDecimalNumber ? .decimal(number.decimalValue) : .double(number.doubleValue)
    } else {
      return nil
    }
  }
}
