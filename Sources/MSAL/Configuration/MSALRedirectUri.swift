public import Foundation

/// A redirect URI.
public final class MSALRedirectUri: NSObject, NSCopying, Sendable {
  /// The address.
  public let url: URL

  /// Whether an application with it gets tokens from the machine's identity broker: the native client's
  /// `https://login.microsoftonline.com/common/oauth2/nativeclient`, and `msauth.<name>://auth`, which stands for it.
  /// The native client's has to be registered for the application in any case; it is what a broker on Linux goes by.
  public var brokerCapable: Bool { isNativeClient || isForBroker }

  /// The redirect URI of an application that names none, `http://localhost`.
  public override convenience init() {
    self.init(url: URL(string: "http://localhost") ?? URL(filePath: "/"))
  }

  init(url: URL) {
    self.url = url
  }

  /// No browser can come back to it.
  var isNativeClient: Bool {
    url.scheme?.lowercased() == "https" && url.path(percentEncoded: true) == "/common/oauth2/nativeclient"
  }

  private var isForBroker: Bool {
    let scheme = (url.scheme ?? "").lowercased()
    return scheme.hasPrefix("msauth.") && !scheme.hasSuffix(".") && url.host == "auth"
  }

  /// The object itself: it never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }
}
