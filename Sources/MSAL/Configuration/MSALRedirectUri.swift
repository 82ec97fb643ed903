public import Foundation

/// A redirect URI.
public final class MSALRedirectUri: NSObject, NSCopying, Sendable {
  /// The address.
  public let url: URL
  /// Always false: there is no broker to come back from.
  public var brokerCapable: Bool { false }

  init(url: URL) {
    self.url = url
  }

  /// The object itself: it never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }
}
