public import Foundation
import HTTPSupport
import IdentityClient

/// Notifications of every interactive request and every sign-out in the browser.
///
/// All are posted on the main queue by `NotificationCenter.default`, without an object. URLs have no query there,
/// since that of a request holds secrets.
extension NSNotification.Name {
  /// The page of a sign-in is about to be opened in the browser. `userInfo["url"]` is its URL.
  public static let MSALWebAuthDidStartLoad = NSNotification.Name("MSALWebAuthDidStartLoadNotification")
  /// The browser has loaded the last page of the sign-in: it returned with a response. `userInfo["url"]` is the redirect
  /// URI. Pages in between are not reported.
  public static let MSALWebAuthDidFinishLoad = NSNotification.Name("MSALWebAuthDidFinishLoadNotification")
  /// The browser will not respond: it could not be opened, the sign-in was cancelled, or it was not finished in
  /// time. `userInfo["error"]` is the `NSError` with which the request ends.
  public static let MSALWebAuthDidFail = NSNotification.Name("MSALWebAuthDidFailNotification")
  /// The sign-in in the browser has ended, after ``MSALWebAuthDidFinishLoad``; the request for the token follows.
  /// `userInfo["url"]` is the redirect URI. An error response of the server counts, too.
  public static let MSALWebAuthDidComplete = NSNotification.Name("MSALWebAuthDidCompleteNotification")
}

// Implicitly unwrapped as in Swift on Apple's systems; see MSALErrorKeys.swift.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// A sign-in continues in Microsoft's broker. Never posted on Linux.
public let MSALWebAuthWillSwitchToBrokerApp: String! = "MSALWebAuthWillSwitchToBrokerApp"
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// Microsoft's broker has responded. Never posted on Linux.
public let MSALWebAuthDidReceiveResponseFromBroker: String! = "MSALWebAuthDidReceiveResponseFromBroker"

@Sendable func postNotifications(of event: BrowserEvent) {
  DispatchQueue.main.async {
    switch event {
    case .opening(let page): post(.MSALWebAuthDidStartLoad, "url", page.withoutQuery)
    case .answered(let redirectURI):
      post(.MSALWebAuthDidFinishLoad, "url", redirectURI.withoutQuery)
      post(.MSALWebAuthDidComplete, "url", redirectURI.withoutQuery)
    case .failed(let error): post(.MSALWebAuthDidFail, "error", NSError(error))
    }
  }
}

private func post(_ name: NSNotification.Name, _ key: String, _ value: Any) {
  NotificationCenter.default.post(name: name, object: nil, userInfo: [key: value])
}
