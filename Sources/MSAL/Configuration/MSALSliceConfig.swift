public import Foundation

/// A part of the cloud, for Microsoft's own tests.
open class MSALSliceConfig: NSObject, NSCopying {
  /// The part; empty where none is named.
  open var slice: String
  /// The data center; empty where none is named.
  open var dc: String

  /// Names a part. The result is never `nil`; the type is Apple's.
  public init?(slice: String?, dc: String?) {
    self.slice = slice ?? ""
    self.dc = dc ?? ""
  }

  init(copying other: MSALSliceConfig) {
    slice = other.slice
    dc = other.dc
  }

  /// Both as the parameters of a request, those that are given.
  open var sliceDictionary: [AnyHashable: Any] { parameters }

  var parameters: [String: String] { ["slice": slice, "dc": dc].filter { !$0.value.isEmpty } }

  /// A new object with the same values.
  open func copy(with zone: NSZone? = nil) -> Any { MSALSliceConfig(copying: self) }
}
