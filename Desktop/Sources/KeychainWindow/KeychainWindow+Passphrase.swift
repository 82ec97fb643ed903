import Configuration
import GTKSupport
public import KeychainModel
import Localization
import SecretService

extension KeychainWindow {
  /// Asks for a passphrase over the window that is open.
  public nonisolated static let passphraseQuestion: PassphraseQuestion = { question, wasWrong in
    await ask(question, wasWrong)
  }

  private static func ask(_ question: SecretQuestion, _ wasWrong: Bool) async -> SecretBytes? {
    guard let window = shown else { return nil }
    let entry = PasswordEntry(question.subject)
    let response = await MessageDialog.show(
      localized("Unlock the Store?"),
      wasWrong
        ? localized("%s is wrong. Enter it again.", question.subject)
        : localized("%s opens this store: %s.", question.subject, window.keychain.storeName),
      responses: [.init("unlock", localized("_Unlock"), .suggested)], over: window.widget, entry: entry)
    return response == "unlock" ? SecretBytes(copying: Array(entry.text.utf8)) : nil
  }
}
