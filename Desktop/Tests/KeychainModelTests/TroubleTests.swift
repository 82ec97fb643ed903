import IdentityClient
import SecretService
import TokenCache
import Testing

@testable import KeychainModel

struct TroubleTests {
  @Test(arguments: [
    ("LLAVERO_GROUP", "mail"), ("LLAVERO_AUTHORITY", "http://plain.example/common"),
    ("LLAVERO_STORE", "cloud"), ("LLAVERO_STORE", "file:"), ("LLAVERO_KEY", "hunter2"),
  ])
  func `An invalid setting is named in the place of accounts, and is not quoted`(
    name: String, value: String
  ) async throws {
    let keychain = SampleGroup().keychain([name: value])
    let trouble = await #expect(throws: Trouble.self) { try await keychain.groups() }
    #expect(trouble?.title == "Invalid Setting")
    #expect(trouble?.message.hasPrefix("Invalid \(name): ") == true)
    #expect(trouble?.description.contains("hunter2") == false)
  }

  @Test func `A wrong key's advice says to open the window again`() {
    let trouble = Trouble(CacheError(.wrongKey, "It has another key.", advice: "Use that."))
    #expect(trouble.title == "Another Key Is Needed")
    #expect(trouble.advice == "Use that. \(Trouble.reopening)")
  }

  @Test func `Empty settings are the defaults`() async throws {
    let keychain = SampleGroup().keychain(["LLAVERO_GROUP": "", "LLAVERO_STORE": ""])
    #expect(try await keychain.groups() == [.default])
    #expect(keychain.storeName == "Keyring")
  }

  @Test(
    arguments: [
      (.collectionLocked, .locked, "The Keyring Is Locked", .unlock),
      (.itemsLocked([]), .locked, "The Keyring Asks First", .unlock),
      (.promptDismissed, .promptDismissed, "Not Confirmed", nil),
      (.noSessionBus, .unavailable, "No Session Bus", .doctor),
      (.noSecretService, .unavailable, "No Keyring", .doctor),
      (.noSuchCollection("default"), .unavailable, "No Keyring", .doctor),
      (.serviceGone, .unavailable, "The Keyring Is Out of Reach", .doctor),
      (.timedOut, .timedOut, "The Keyring Does Not Answer", .doctor),
    ] as [(SecretServiceError, CacheError.Code, String, Trouble.Help?)])
  func `A failure of the keyring has a title and a button`(
    error: SecretServiceError, code: CacheError.Code, title: String, help: Trouble.Help?
  ) {
    let trouble = Trouble(CacheError(code, error.description, advice: error.advice, underlyingError: error))
    #expect((trouble.title, trouble.help) == (title, help))
    #expect(
      trouble.message == (error == .collectionLocked ? Trouble.passwordNeeded : error.description))
    #expect((trouble.advice?.contains("llavero setup") == true) == title.hasPrefix("No "))
  }

  @Test func `A store that is no keyring is not called one`() {
    #expect(Trouble(CacheError(.timedOut, "No response.")).title == "The Store Does Not Answer")
    #expect(Trouble(CacheError(.unavailable, "No server.")).title == "The Store Is Out of Reach")
  }

  @Test func `Damage can be removed where the store would remove it`() {
    #expect(Trouble(StoreProblem(.damaged, shard: nil, detail: "It is broken.")).help == .removeDamaged)
    #expect(Trouble(StoreProblem(.newerVersion, shard: nil, detail: "It is new.")).help == nil)
    #expect(Trouble(CacheError(.damaged, "It is broken.", remedy: .removal)).help == .removeDamaged)
  }

  @Test func `A refused renewal is shown in the server's words`() {
    var error = IdentityError(.interactionRequired, "interaction_required")
    error.oauthErrorDescription = "AADSTS50078: Use multi-factor authentication."
    let trouble = Trouble(error)
    #expect(trouble.title == "A New Sign-In Is Needed")
    #expect(trouble.message == "AADSTS50078: Use multi-factor authentication.")
  }
}
