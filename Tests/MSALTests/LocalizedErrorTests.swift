import Configuration
import EntraLab
import Foundation
import HTTPSupport
import IdentityClient
import Lending
import MSAL
import MSALExtensionsStore
import MicrosoftGraph
import Sealing
import SecretService
import TestSupport
import Testing
import TokenCache

/// What Foundation says of the libraries' errors, whose own modules do not load it.
struct LocalizedErrorTests {
  /// Errors of every public type, and what `localizedDescription` says.
  static let samples: [(error: any Error, text: String)] = [
    (CacheError(.locked, "The keyring is locked.", advice: "Unlock it."), "The keyring is locked. Unlock it."),
    (CacheError(.refused, "The store refused"), "The store refused."),
    (IdentityError(.invalidScope, "Check it", advice: "Ask for less."), "Check it. Ask for less."),
    (IdentityError(.serverError, "The server failed."), "The server failed. Try again later."),
    (
      IdentityError(.interactionRequired, "User interaction is required"),
      "User interaction is required. Sign in interactively."
    ),
    (GraphError(.notFound, "Is it there?"), "Is it there?"),
    (
      HTTPTransportError.cannotConnect("login.example: Connection refused"),
      "The server cannot be reached: login.example: Connection refused. Check the network connection."
    ),
    (HTTPTransportError.timedOut, "The server did not respond in time. Try again later."),
    (HTTPTransportError.cutOff(by: "h"), """
      The connection broke: h closed the connection before the end of its response. Try again later.
      """),
    (LendingError.notASocket(path: "/a"), "The file /a exists and is not a socket."),
    (ConfigurationError("a", "The group is invalid.", advice: "Name another."), """
      The group is invalid. Name another.
      """),
    (SealError.wrongLength(size: 1, expected: 2), """
      A sealed part of the store is truncated: 1 of 2 bytes. It was not changed. Restore it from a backup of the whole \
      store, or remove what cannot be read.
      """),
    (SecretServiceError.noSecretService, """
      No Secret Service (keyring) is running, and none could be started. Install and start a keyring: gnome-keyring, \
      KWallet, KeePassXC or oo7.
      """),
    (SecretServiceError.refused(name: "a.b", message: "No"), "The keyring refused: No (a.b)."),
    (SecretPortalError.portalGone, "The Secret portal ended during the call. Try again."),
    (AdoptionError.inUse, """
      The plaintext cache keeps changing. Stop the program that writes to it, and try again.
      """),
    (AdoptionError.peer(CacheError(.unavailable, "It is gone")), "It is gone."),
    (caught { try StoreAddress("ftp:") }, "Invalid value: \(caught { try StoreAddress("ftp:") })."),
    (caught { try ClaimsRequest(json: #"{"a":{}}"#) }, "Invalid claims target: a."),
    (LabError.noSuch("the user"), "Not found: the user."),
    (SetUpFailure("no display", advice: "Start one."), "Set-up failed: no display. Start one."),
  ]

  private static func caught<T>(_ work: () throws -> T) -> any Error {
    do {
      _ = try work()
      return CocoaError(.featureUnsupported)
    } catch {
      return error
    }
  }

  @Test(.fault("error text"), arguments: samples)
  func `The localized description of an error is its message and its advice`(_ error: any Error, _ text: String) {
    #expect(error.localizedDescription == text)
    #expect((error as NSError).localizedDescription == text)
  }

  @Test(.fault("error text")) func `Every public error has a localized description`() throws {
    let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    var names: Set<String> = []
    for folder in ["Sources", "Tests/PrivateSession"] {
      let files = FileManager.default.enumerator(at: package.appending(path: folder), includingPropertiesForKeys: nil)
      for case let file as URL in try #require(files) where file.pathExtension == "swift" {
        let text = try String(contentsOf: file, encoding: .utf8)
        for match in text.matches(of: /public (?:struct|enum|(?:final |open )?class) (\w+)\s*:[^{]*\b\w*Error\b[^{]*\{/) {
          names.insert(String(match.output.1))
        }
      }
    }
    let known = Set(Self.samples.map { String(describing: type(of: $0.error)) })
    #expect(names.count >= 13 && names.subtracting(known).isEmpty, "\(names.subtracting(known))")
  }
}
