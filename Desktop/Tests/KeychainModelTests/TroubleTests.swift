import IdentityClient
import SecretService
import TokenCache
import Testing

@testable import KeychainModel

struct TroubleTests {
  @Test(arguments: [
    ("LLAVERO_GROUP", "mail"), ("LLAVERO_AUTHORITY", "http://plain.example/common"),
    ("LLAVERO_STORE", "cloud"),
  ])
  func `A setting that makes no sense is what the window says`(name: String, value: String) async throws {
    let keychain = SampleGroup().keychain([name: value])
    let trouble = await #expect(throws: Trouble.self) { try await keychain.groups() }
    #expect(trouble?.message.hasPrefix(name + " makes no sense: ") == true)
  }

  @Test func `A key that the window cannot take is not quoted`() {
    let settings = KeychainSettings(environment: ["LLAVERO_STORE": "file", "LLAVERO_KEY": "hunter2"])
    #expect(settings.trouble?.message.contains("LLAVERO_KEY") == true)
    #expect(settings.trouble?.description.contains("hunter2") == false)
  }

  @Test func `Settings without a word are the defaults`() throws {
    let settings = KeychainSettings(environment: ["LLAVERO_GROUP": "", "LLAVERO_STORE": ""])
    #expect(settings.trouble == nil)
    #expect(settings.group == .default)
  }

  @Test(
    arguments: [
      (.collectionLocked, .locked, "The Keyring Is Locked", .unlock),
      (.promptDismissed, .promptDismissed, "The Keyring Is Locked", .unlock),
      (.noSessionBus, .unavailable, "No Session Bus", .doctor),
      (.noSecretService, .unavailable, "No Keyring", .doctor),
      (.noSuchCollection("default"), .unavailable, "No Keyring", .doctor),
      (.serviceGone, .unavailable, "The Keyring Is Out of Reach", .doctor),
      (.timedOut, .timedOut, "The Keyring Does Not Answer", .doctor),
    ] as [(SecretServiceError, CacheError.Code, String, Trouble.Help)])
  func `What is wrong with the keyring has a title and a button`(
    error: SecretServiceError, code: CacheError.Code, title: String, help: Trouble.Help
  ) {
    let trouble = Trouble(CacheError(code, error.description, advice: error.advice, underlyingError: error))
    #expect((trouble.title, trouble.help) == (title, help))
    #expect(trouble.message == (code == .locked ? Trouble.passwordNeeded : error.description))
  }

  @Test func `What is damaged can be removed where the store would do that`() {
    #expect(Trouble(StoreProblem(.damaged, shard: nil, detail: "It is broken.")).help == .removeDamaged)
    #expect(Trouble(StoreProblem(.newerVersion, shard: nil, detail: "It is new.")).help == nil)
    #expect(Trouble(CacheError(.damaged, "It is broken.", remedy: .removal)).help == .removeDamaged)
  }

  @Test func `A renewal that the server refused says so in the server's words`() {
    var error = IdentityError(.interactionRequired, "interaction_required")
    error.oauthErrorDescription = "AADSTS50078: Use multi-factor authentication."
    let trouble = Trouble(error)
    #expect(trouble.title == "A New Sign-In Is Needed")
    #expect(trouble.message == "AADSTS50078: Use multi-factor authentication.")
  }
}
