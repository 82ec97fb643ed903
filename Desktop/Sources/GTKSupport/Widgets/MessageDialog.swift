import CGTK
import Localization

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
    ///   - id: The result of ``MessageDialog/show(_:_:responses:over:dismissal:entry:)`` for it.
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
  ///   - body: The consequences. It scrolls where the screen is too small for it.
  ///   - responses: The buttons, besides "Cancel", which comes first.
  ///   - window: The window below it.
  ///   - dismissal: The first button's text (default: "Cancel").
  ///   - entry: A line below the text, without which the suggested response cannot be given.
  /// - Returns: The id of the response, or ``cancelled``.
  @MainActor
  public static func show(
    _ heading: String, _ body: String, responses: [Response], over window: Widget,
    dismissal: String? = nil, entry: PasswordEntry? = nil
  ) async -> String {
    let dialog = Widget(retaining: UnsafeMutableRawPointer(adw_message_dialog_new(window.cast(), nil, nil)))
    dialog.setAccessibleName(heading)
    // libadwaita 1.2 does not scroll its own labels, and a dialog may be taller than the screen.
    let title = Label(centered: heading)
    title.addStyle("title-2")
    let text = Box(.vertical, spacing: 12)
    for part in [title, Label(centered: body), entry].compactMap(\.self) { text.append(part) }
    let scroll = ScrolledWindow(text)
    scroll.scrollsVerticallyOnly()
    dialog.set("extra-child", scroll)
    let responses = [Response(cancelled, dismissal ?? localized("_Cancel"))] + responses
    for response in responses {
      adw_message_dialog_add_response(dialog.cast(), response.id, response.label)
      let appearance =
        switch response.look {
        case .plain: ADW_RESPONSE_DEFAULT
        case .suggested: ADW_RESPONSE_SUGGESTED
        case .destructive: ADW_RESPONSE_DESTRUCTIVE
        }
      adw_message_dialog_set_response_appearance(dialog.cast(), response.id, appearance)
    }
    let safe = responses.last { $0.look == .suggested } ?? responses[0]
    adw_message_dialog_set_default_response(dialog.cast(), safe.id)
    adw_message_dialog_set_close_response(dialog.cast(), cancelled)
    if let entry {
      let allow: @MainActor () -> Void = { [weak dialog, weak entry] in
        guard let dialog, let entry else { return }
        adw_message_dialog_set_response_enabled(dialog.cast(), safe.id, entry.text.isEmpty ? 0 : 1)
      }
      allow()
      entry.connect("notify::text", allow)
    }
    dialog.mendMnemonicNames()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        dialog.connect("response") { arguments in
          continuation.resume(returning: arguments.string(0) ?? cancelled)
          return false
        }
        gtk_window_present(dialog.cast())
        dialog.afterPaint { [weak scroll, weak text] in text.map { scroll?.fit($0) } }
        if entry == nil { keepFocus(onButton: safe.label, in: dialog) }
      }
    } onCancel: {
      Task { @MainActor in gtk_window_close(dialog.cast()) }
    }
  }

  /// Keeps the focus on a button until a key moves it.
  ///
  /// AdwMessageDialog has a button of each response for each of its layouts, and the first one that is shown has the focus: where
  /// they are stacked that is the last response, whatever the default one is.
  @MainActor
  private static func keepFocus(onButton label: String, in dialog: Widget) {
    var isMoved = false
    dialog.onKey { key in
      isMoved = isMoved || ![GDK_KEY_Return, GDK_KEY_KP_Enter, GDK_KEY_space].contains(Int32(key))
      return false
    }
    dialog.afterPaint { [weak dialog] in
      guard !isMoved, let dialog, let button = dialog.shownButton(label: label) else { return }
      if gtk_window_get_focus(dialog.cast()).map(UnsafeMutableRawPointer.init) != button.raw {
        button.focus()
      }
    }
  }
}

extension Widget {
  /// The button in it that has this text and can be seen.
  fileprivate func shownButton(label: String) -> Widget? {
    guard gtk_widget_get_mapped(cast()) != 0 else { return nil }
    if g_type_check_instance_is_a(cast(), gtk_button_get_type()) != 0,
      gtk_button_get_label(cast()).map({ String(cString: $0) }) == label
    {
      return self
    }
    return children.lazy.compactMap { $0.shownButton(label: label) }.first
  }
}
