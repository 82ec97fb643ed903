import CGLib
package import GLibSupport
import Synchronization

/// A Secret Service that replies to each method as a test wants, on the bus of a `PrivateKeyring` without a daemon.
///
/// It refuses an encrypted session, so that libsecret falls back to a plain one. With other names it is another program
/// beside the service.
package final class FakeService: Sendable {
  package enum Answer: Sendable {
    case reply([Variant])
    case error(String)
    case silence
    /// Replies to Prompt and completes the prompt with this result, as if the user allowed it.
    case completion(Variant)
    /// The first once, then the other for ever.
    indirect case inTurn(Answer, then: Answer)
    /// Computed from the arguments.
    case computed(@Sendable ([Variant]) -> Answer)
  }

  package static let collection = "/org/freedesktop/secrets/collection/fake"
  package static let prompt = "/org/freedesktop/secrets/prompt/1"
  package static let session = "/org/freedesktop/secrets/session/1"

  /// The names of the methods that were called, in order.
  package var calls: [String] { log.withLock { $0.map(\.method) } }
  /// The same with their times.
  package var timedCalls: [(method: String, time: ContinuousClock.Instant)] { log.withLock { $0 } }

  package let keyring: PrivateKeyring
  private let bus: BusConnection
  private let answers: Mutex<[String: Answer]>
  private let log = Mutex<[(method: String, time: ContinuousClock.Instant)]>([])
  private let ownsKeyring: Bool

  package init(
    _ answers: [String: Answer] = [:], on keyring: PrivateKeyring? = nil,
    names: [String] = ["org.freedesktop.secrets"]
  ) throws {
    ownsKeyring = keyring == nil
    self.keyring = try keyring ?? PrivateKeyring(startingDaemon: false)
    let cancellable = Cancellable(timeout: .seconds(120))
    bus = try BusConnection(address: self.keyring.busAddress, cancellable)
    let standard: [String: Answer] = [
      "ReadAlias": .reply([.objectPath(Self.collection)]),
      "Label": .reply([.variant(.string("Fake"))]),
      "Locked": .reply([.variant(.boolean(false))]),
      "Prompt": .reply([]),
    ]
    self.answers = Mutex(standard.merging(answers) { $1 })
    g_dbus_connection_add_filter(
      bus.pointer, answerCall, Unmanaged.passUnretained(self).toOpaque(), nil)
    for name in names { try bus.own(name, cancellable) }
  }

  deinit { if ownsKeyring { keyring.shutdown() } }

  /// Emits the prompt's signal that it is completed.
  package func completePrompt(dismissed: Bool, _ result: Variant) {
    let arguments = Variant.tuple([.boolean(dismissed), .variant(result)])
    _ = withExtendedLifetime(arguments) {
      g_dbus_connection_emit_signal(
        bus.pointer, nil, Self.prompt, "org.freedesktop.Secret.Prompt", "Completed", arguments.pointer, nil)
    }
  }

  package func setAnswer(_ method: String, _ answer: Answer) { answers.withLock { $0[method] = answer } }

  /// Answers a call; runs on GDBus's thread.
  fileprivate func answer(_ message: OpaquePointer) {
    var method = String(cString: g_dbus_message_get_member(message))
    let arguments = g_dbus_message_get_body(message).map { Variant(taking: g_variant_ref($0)).children } ?? []
    // A property counts under its own name.
    if method == "Get" { method = arguments[1].string ?? "" }
    log.withLock { $0.append((method, .now)) }

    var answer =
      answers.withLock { answers in
        guard case .inTurn(let first, let then) = answers[method] else { return answers[method] }
        answers[method] = then
        return first
      } ?? .error("org.freedesktop.DBus.Error.UnknownMethod")
    if method == "OpenSession", answers.withLock({ $0[method] }) == nil {
      answer =
        arguments[0].string == "plain"
        ? .reply([.variant(.string("")), .objectPath(Self.session)])
        : .error("org.freedesktop.DBus.Error.NotSupported")
    }
    if case .computed(let compute) = answer { answer = compute(arguments) }
    let reply: OpaquePointer?
    switch answer {
    case .completion: reply = g_dbus_message_new_method_reply(message)
    case .reply(let values):
      reply = g_dbus_message_new_method_reply(message)
      let body = Variant.tuple(values)
      withExtendedLifetime(body) { g_dbus_message_set_body(reply, body.pointer) }
    case .error(let name):
      reply = g_dbus_message_new_method_error_literal(message, name, "fake")
    case .silence, .inTurn, .computed:
      return
    }
    g_dbus_connection_send_message(bus.pointer, reply, GDBusSendMessageFlags(rawValue: 0), nil, nil)
    if let reply { g_object_unref(UnsafeMutableRawPointer(reply)) }
    if case .completion(let result) = answer { completePrompt(dismissed: false, result) }
  }
}

extension FakeService.Answer {
  /// An unlocked item with these attributes.
  package static func item(_ attributes: [String: String]) -> Self {
    .reply([
      .properties([
        "Attributes": .dictionary(attributes), "Label": .string(""), "Locked": .boolean(false),
      ])
    ])
  }
}

private let answerCall: GDBusMessageFilterFunction = { _, message, isIncoming, data in
  guard let message, let data, isIncoming != 0,
    g_dbus_message_get_message_type(message) == G_DBUS_MESSAGE_TYPE_METHOD_CALL
  else { return message }
  Unmanaged<FakeService>.fromOpaque(data).takeUnretainedValue().answer(message)
  g_object_unref(UnsafeMutableRawPointer(message))
  return nil
}
