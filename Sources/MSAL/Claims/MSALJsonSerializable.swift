public import Foundation

/// What an error is returned through in places where Objective-C has an out parameter and Swift does not throw.
/// Foundation has this name on Apple's systems only.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

/// What can be written as JSON.
public protocol MSALJsonSerializable: NSObjectProtocol {
  /// The JSON, or `nil` when there is no way to write it.
  func jsonString() -> String?
}

/// What can be read from JSON.
public protocol MSALJsonDeserializable: NSObjectProtocol {
  /// Reads the JSON. If that fails, the object is empty and the error is stored where `error` points to.
  init(jsonString: String, error: NSErrorPointer)
}
