package import GLibSupport
import Synchronization
package import Testing

/// A Secret Service that replies to each method as a test wants, on the bus of a `PrivateKeyring` without a daemon.
///
/// It refuses an encrypted session, so that libsecret falls back to a plain one. With other names it is another program
/// beside the service. `*` stands for every method without an answer of its own.
package final class FakeService: Sendable {
  package enum Answer: Sendable {
    case reply([Variant])
    case error(String)
    case silence
    /// Replies to Prompt and completes the prompt with this result, as if the user allowed or dismissed it.
    case completion(Variant, dismissed: Bool = false)
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
    (bus, _) = try self.keyring.connect()
    let standard: [String: Answer] = [
      "ReadAlias": .reply([.objectPath(Self.collection)]),
      "Label": .reply([.variant(.string("Fake"))]),
      "Locked": .reply([.variant(.boolean(false))]),
      "Prompt": .reply([]),
    ]
    self.answers = Mutex(standard.merging(answers) { $1 })
    try bus.serve(names) { [weak self] in self?.answer($0) }
  }

  deinit { if ownsKeyring { keyring.shutdown() } }

  /// A program that prompts for gnome-keyring, and never replies.
  package static func silentPrompter(on keyring: PrivateKeyring) throws -> FakeService {
    try FakeService(["*": .silence], on: keyring, names: ["org.gnome.keyring.SystemPrompter"])
  }

  /// Emits the prompt's signal that it is completed.
  package func completePrompt(dismissed: Bool, _ result: Variant) {
    bus.emit(
      "org.freedesktop.Secret.Prompt", "Completed", of: Self.prompt, [.boolean(dismissed), .variant(result)])
  }

  /// Expects at least so many changes, in bursts with time to save in between, as KeePassXC needs it.
  package func expectBursts(ofAtLeast count: Int, sourceLocation: SourceLocation = #_sourceLocation) {
    let times = timedCalls.filter { ["CreateItem", "SetSecret", "Delete"].contains($0.method) }.map(\.time)
    #expect(times.count >= count, sourceLocation: sourceLocation)
    // Of three changes in a row by two callers, one caller sent two, the second of them when the first was answered. So the first
    // of the three came within the burst's time, however slow everything is.
    var burst: [ContinuousClock.Instant] = []
    for time in times {
      if let last = burst.last, time - last >= .milliseconds(1500) { burst = [] }
      burst.append(time)
      if burst.count > 2 {
        #expect(burst[burst.count - 3] - burst[0] <= .milliseconds(100), sourceLocation: sourceLocation)
      }
    }
  }

  package func setAnswer(_ method: String, _ answer: Answer) { answers.withLock { $0[method] = answer } }

  private func answer(_ call: IncomingCall) {
    var method = call.method
    let arguments = call.arguments
    // A property counts under its own name.
    if method == "Get" { method = arguments[1].string ?? "" }
    log.withLock { $0.append((method, .now)) }

    var answer =
      answers.withLock { answers in
        guard case .inTurn(let first, let then) = answers[method] else {
          return answers[method] ?? answers["*"]
        }
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
    switch answer {
    case .completion(let result, let dismissed):
      call.reply([])
      completePrompt(dismissed: dismissed, result)
    case .reply(let values): call.reply(values)
    case .error(let name): call.fail(name)
    case .silence, .inTurn, .computed: break
    }
  }
}

extension FakeService.Answer {
  /// An unlocked item with these attributes.
  package static func item(_ attributes: [String: String], label: String = "") -> Self {
    .reply([
      .properties([
        "Attributes": .dictionary(attributes), "Label": .string(label), "Locked": .boolean(false),
      ])
    ])
  }
}
