import CGTK

/// A dialog over a window, with a button for each response.
public enum MessageDialog {
  public struct Response: Sendable {
    public enum Look: Sendable {
      case plain, suggested, destructive
    }
    let id: String
    let label: String
    let look: Look

    /// - Parameters:
    ///   - id: The result of ``MessageDialog/show(_:_:responses:over:dismissal:content:)`` for it.
    ///   - label: The button's text; an underscore precedes its mnemonic letter.
    ///   - look: Whether it is suggested or destructive.
    public init(_ id: String, _ label: String, _ look: Look = .plain) {
      self.id = id
      self.label = label
      self.look = look
    }
  }

  /// The response when the dialog is closed.
  public static let cancelled = "cancel"

  /// Shows the dialog and waits for the response, without blocking the loop. The end of the task closes it.
  ///
  /// - Parameters:
  ///   - heading: The heading.
  ///   - body: The consequences.
  ///   - responses: The buttons, besides "Cancel", which comes first.
  ///   - window: The window below it.
  ///   - dismissal: The first button's text.
  ///   - content: A widget between text and buttons, such as a ``PasswordEntry``.
  /// - Returns: The id of the response, or ``cancelled``.
  @MainActor
  public static func show(
    _ heading: String, _ body: String, responses: [Response], over window: Widget,
    dismissal: String = "_Cancel", content: Widget? = nil
  ) async -> String {
    let dialog = Widget(
      retaining: UnsafeMutableRawPointer(adw_message_dialog_new(window.cast(), heading, body)))
    for response in [Response(cancelled, dismissal)] + responses {
      adw_message_dialog_add_response(dialog.cast(), response.id, response.label)
      let appearance =
        switch response.look {
        case .plain: ADW_RESPONSE_DEFAULT
        case .suggested: ADW_RESPONSE_SUGGESTED
        case .destructive: ADW_RESPONSE_DESTRUCTIVE
        }
      adw_message_dialog_set_response_appearance(dialog.cast(), response.id, appearance)
    }
    adw_message_dialog_set_default_response(
      dialog.cast(), responses.last { $0.look == .suggested }?.id ?? cancelled)
    adw_message_dialog_set_close_response(dialog.cast(), cancelled)
    if let content { adw_message_dialog_set_extra_child(dialog.cast(), content.cast()) }
    dialog.mendMnemonicNames()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        dialog.connect("response") { arguments in
          continuation.resume(returning: arguments.string(0) ?? cancelled)
          return false
        }
        gtk_window_present(dialog.cast())
      }
    } onCancel: {
      Task { @MainActor in gtk_window_close(dialog.cast()) }
    }
  }
}
