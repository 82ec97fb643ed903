import CGTK

/// A dialog over a window, with a button for each answer.
public enum Question {
  public struct Answer: Sendable {
    public enum Look: Sendable {
      case plain, suggested, destructive
    }
    let id: String
    let label: String
    let look: Look

    /// - Parameters:
    ///   - id: The result of ``Question/ask(_:_:answers:over:)`` for it.
    ///   - label: The button's text; an underscore precedes its mnemonic letter.
    ///   - look: Whether it is suggested or destructive.
    public init(_ id: String, _ label: String, _ look: Look = .plain) {
      self.id = id
      self.label = label
      self.look = look
    }
  }

  /// The answer when the dialog is closed.
  public static let cancelled = "cancel"

  /// Shows the dialog and waits for the answer, without blocking the loop.
  ///
  /// - Parameters:
  ///   - heading: The question.
  ///   - body: The consequences.
  ///   - answers: The buttons, besides "Cancel", which comes first.
  ///   - window: The window below it.
  ///   - dismissal: The first button's text.
  ///   - content: What stands between text and buttons, such as a ``PasswordEntry``.
  /// - Returns: The id of the answer, or ``cancelled``.
  @MainActor
  public static func ask(
    _ heading: String, _ body: String, answers: [Answer], over window: Widget, dismissal: String = "_Cancel",
    content: Widget? = nil
  ) async -> String {
    let dialog = Widget(
      retaining: UnsafeMutableRawPointer(adw_message_dialog_new(window.cast(), heading, body)))
    for answer in [Answer(cancelled, dismissal)] + answers {
      adw_message_dialog_add_response(dialog.cast(), answer.id, answer.label)
      let appearance =
        switch answer.look {
        case .plain: ADW_RESPONSE_DEFAULT
        case .suggested: ADW_RESPONSE_SUGGESTED
        case .destructive: ADW_RESPONSE_DESTRUCTIVE
        }
      adw_message_dialog_set_response_appearance(dialog.cast(), answer.id, appearance)
    }
    adw_message_dialog_set_default_response(
      dialog.cast(), answers.last { $0.look == .suggested }?.id ?? cancelled)
    adw_message_dialog_set_close_response(dialog.cast(), cancelled)
    if let content { adw_message_dialog_set_extra_child(dialog.cast(), content.cast()) }
    dialog.mendMnemonicNames()
    return await withCheckedContinuation { continuation in
      dialog.connect("response") { arguments in
        continuation.resume(returning: arguments.string(0) ?? cancelled)
        return false
      }
      gtk_window_present(dialog.cast())
    }
  }
}
