import Configuration
import FoundationEssentials
import Testing

@testable import KeychainModel
@testable import Localization

struct TextTests {
  @Test(
    arguments: [
      ("%s opens %s.", "A opens B."), ("%2$s, by %1$s", "B, by A"), ("%s is 100%%.", "A is 100%."),
      ("%s, %s, %s", "A, B, %s"), ("%3$s", "%3$s"), ("%q %s", "%q A"), ("100%", "100%"),
    ])
  func `Arguments come into a text in its order, which a translation may change`(
    text: String, filled: String
  ) {
    #expect(Localization.filled(text, ["A", "B"]) == filled)
  }

  @Test func `What an argument has in it is no placeholder`() {
    #expect(localized("%s: %s", "%2$s %s", "B") == "%2$s %s: B")
  }

  @Test func `A text without arguments stays as it is`() {
    #expect(localized("%-d %B 100%%") == "%-d %B 100%%")
  }

  @Test func `A sentence that has no translation stays as it is`() {
    #expect(translated("") == "")
    #expect(translated("AADSTS50078: Use multi-factor authentication.").hasPrefix("AADSTS50078"))
  }

  @Test(
    arguments: [
      (3600, "60 minutes left"), (7200, "2 hours left"), (90, "90 seconds left"), (1, "1 second left"),
      (0, "Expired 0 seconds ago"), (-7200, "Expired 2 hours ago"), (172_800, "2 days left"),
      (1e9, "31 years left"), (1e18, "Ages left"), (-1e18, "Expired ages ago"),
    ] as [(Double, String)])
  func `The time left is shown in words`(left: Double, text: String) {
    let now = Date(timeIntervalSince1970: 1_800_000_000)
    #expect(TimeLeft(until: now + left, at: now).text == text)
  }
}
