// Implicitly unwrapped as in Swift on Apple's systems; see MSALErrorKeys.swift.
// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals

/// A web view began to load a page. Never posted on Linux, where the system's browser does.
public let MSALWebAuthDidStartLoadNotification: String! = "MSALWebAuthDidStartLoadNotification"
/// A web view has loaded a page. Never posted on Linux.
public let MSALWebAuthDidFinishLoadNotification: String! = "MSALWebAuthDidFinishLoadNotification"
/// A web view could not load a page. Never posted on Linux.
public let MSALWebAuthDidFailNotification: String! = "MSALWebAuthDidFailNotification"
/// A sign-in in a web view came to its end. Never posted on Linux.
public let MSALWebAuthDidCompleteNotification: String! = "MSALWebAuthDidCompleteNotification"
/// A sign-in goes on in Microsoft's broker. Never posted on Linux.
public let MSALWebAuthWillSwitchToBrokerApp: String! = "MSALWebAuthWillSwitchToBrokerApp"
/// Microsoft's broker has answered. Never posted on Linux.
public let MSALWebAuthDidReceiveResponseFromBroker: String! = "MSALWebAuthDidReceiveResponseFromBroker"
