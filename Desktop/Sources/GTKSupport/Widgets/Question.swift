import CGTK

/// A question over a window, with a button for each answer.
public enum Question {
  public struct Answer: Sendable {
    public enum Look: Sendable {
      case plain, suggested, destructive
    }
    let id: String
    let label: String
    let look: Look

    /// - Parameters:
    ///   - id: What ``Question/ask(_:_:answers:over:)`` returns for it.
    ///   - label: The button's text; an underscore stands before the letter that presses it.
    ///   - look: Whether it is proposed, or warned of.
    public init(_ id: String, _ label: String, _ look: Look = .plain) {
      self.id = id
      self.label = label
      self.look = look
    }
  }

  /// The answer of a person who closes the question.
  public static let cancelled = "cancel"

  /// Asks, and waits for the answer; the program goes on meanwhile.
  ///
  /// - Parameters:
  ///   - heading: The question.
  ///   - body: What will happen.
  ///   - answers: The buttons, besides "Cancel", which comes first.
  ///   - window: The window that waits for it.
  ///   - dismissal: The first button's text.
  /// - Returns: The id of the answer, or ``cancelled``.
  @MainActor
  public static func ask(
    _ heading: String, _ body: String, answers: [Answer], over window: Widget, dismissal: String = "_Cancel"
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
