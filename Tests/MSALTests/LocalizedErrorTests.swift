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
  static let samples: [(any Error, String)] = [
    (CacheError(.locked, "It is locked.", advice: "Unlock it."), "It is locked. Unlock it."),
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
    (LendingError.notASocket(path: "/a"), "The file /a exists and is not a socket."),
    (ConfigurationError("a", "It is invalid.", advice: "Name another."), "It is invalid. Name another."),
    (
      SealError.unknownKey,
      "A sealed part of the store was sealed with a key that is not in the store's \"keys\". "
        + "Restore the whole store from one backup; no known key opens this part of it."
    ),
    (
      SecretServiceError.noSecretService,
      "No Secret Service (keyring) is running, and none could be started. "
        + "Install and start a keyring: gnome-keyring, KWallet, KeePassXC or oo7."
    ),
    (SecretServiceError.refused(name: "a.b", message: "No"), "The keyring refused: No (a.b)."),
    (SecretPortal.portalGone, "The Secret portal ended during the call. Try again."),
    (
      AdoptionError.inUse,
      "The plaintext cache keeps changing. Stop the program that writes to it, and try again."
    ),
    (AdoptionError.peer(CacheError(.unavailable, "It is gone")), "It is gone."),
    (caught { try StoreAddress("ftp:") }, "Invalid value: expected \(StoreAddress.forms)."),
    (caught { try ClaimsRequest(json: #"{"a":{}}"#) }, "Invalid claims target: a."),
    (LabError.noSuch("the user"), "Not found: the user."),
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
  func `The localized description of an error is its message and its advice`(
    _ error: any Error, _ text: String
  ) {
    #expect(error.localizedDescription == text)
    #expect((error as NSError).localizedDescription == text)
  }

  @Test(.fault("error text")) func `Every public error has a localized description`() throws {
    let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let declaration = #/public (?:struct|enum|(?:final |open )?class) (\w+): [^{]*\b\w*Error\b[^{]*\{/#
    var names: Set<String> = []
    for folder in ["../Sources", "PrivateSession"] {
      let files = FileManager.default.enumerator(
        at: tests.appending(path: folder), includingPropertiesForKeys: nil)
      for case let file as URL in try #require(files) where file.pathExtension == "swift" {
        let text = try String(contentsOf: file, encoding: .utf8)
        names.formUnion(text.matches(of: declaration).map { String($0.output.1) })
      }
    }
    // `Tests/run` counts its text in the log, so that it is no argument.
    let failure = SetUpFailure("no display")
    #expect(failure.localizedDescription == failure.description)
    let known = Set((Self.samples.map(\.0) + [failure]).map { String(describing: type(of: $0)) })
    #expect(names.count >= 10 && names.subtracting(known).isEmpty, "\(names.subtracting(known))")
  }
}
