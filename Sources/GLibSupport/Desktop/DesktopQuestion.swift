/// A question to the user, as a notification with two buttons (Desktop Notifications Specification).
package struct DesktopQuestion: Sendable {
  private static let name = "org.freedesktop.Notifications"
  private static let path = "/org/freedesktop/Notifications"

  package var title: String
  package var text: String
  package var yes: String
  package var no: String

  package init(title: String, text: String, yes: String, no: String) {
    self.title = title
    self.text = text
    self.yes = yes
    self.no = no
  }

  /// Whether a desktop shows notifications with buttons. Blocks.
  package static func isAvailable(_ cancellable: Cancellable) -> Bool {
    do throws(GLibError) {
      let bus = try BusConnection(address: nil, cancellable)
      let answer = try bus.call(name, path, name, "GetCapabilities", [], reply: "(as)", cancellable)
      return answer.first?.strings?.contains("actions") == true
    } catch {
      return false
    }
  }

  /// Asks and waits for the answer until the deadline. Blocks.
  ///
  /// - Returns: The answer; `nil` if the user gave none.
  /// - Throws: `GLibError` if the notification cannot be shown.
  package func answer(_ cancellable: Cancellable) throws(GLibError) -> Bool? {
    let bus = try BusConnection(address: nil, cancellable)
    var answers: [UInt32: Bool?] = [:]
    let signals = bus.withContext {
      SignalSubscription(bus, of: Self.name, Self.path, Self.name) { name, arguments in
        guard let id = arguments.first?.uint32, arguments.count == 2, answers[id] == nil else { return }
        switch name {
        case "ActionInvoked" where arguments[1].string == "yes": answers[id] = .some(true)
        case "ActionInvoked" where arguments[1].string == "no": answers[id] = .some(false)
        // 2: the user closed it.
        case "NotificationClosed": answers[id] = .some(arguments[1].uint32 == 2 ? false : nil)
        default: break
        }
      }
    }
    defer { withExtendedLifetime(signals) {} }
    let reply = try bus.call(
      Self.name, Self.path, Self.name, "Notify",
      [
        .string("Llavero"), .uint32(0), .string("dialog-password"), .string(title),
        .string(Self.escaped(text)),
        .array(of: "s", ["yes", yes, "no", no].map(Variant.string)),
        .properties(["urgency": .byte(2)]), .int32(0),
      ], reply: "(u)", cancellable)
    guard let id = reply.first?.uint32 else { throw .unexplained }
    bus.listen(until: { answers[id] != nil }, cancellable)
    if let answer = answers[id] { return answer }
    let end = Cancellable(timeout: .seconds(5))
    _ = try? bus.call(Self.name, Self.path, Self.name, "CloseNotification", [.uint32(id)], reply: "()", end)
    return nil
  }

  /// Some desktops read the text as markup.
  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }
}
