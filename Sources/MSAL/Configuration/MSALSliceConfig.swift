public import Foundation

/// A part of the cloud, for Microsoft's own tests.
public final class MSALSliceConfig: NSObject, NSCopying, Sendable {
  public let slice: String
  /// The data center.
  public let dc: String

  /// `nil` when neither is given.
  public init?(slice: String?, dc: String?) {
    guard slice != nil || dc != nil else { return nil }
    self.slice = slice ?? ""
    self.dc = dc ?? ""
  }

  /// Both as the parameters of a request, those that are given.
  public var sliceDictionary: [AnyHashable: Any] { parameters }

  var parameters: [String: String] { ["slice": slice, "dc": dc].filter { !$0.value.isEmpty } }

  /// The object itself: it never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }
}
