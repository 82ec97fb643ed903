import CGTK
import Foundation
import GTKSupport

/// Checks GTKSupport on GTK's own loop, which "swift test" has no place for, and prints a line for each.
@main
@MainActor
struct GTKSupportChecks {
  static func main() {
    do throws(NoDisplayError) {
      let application = try Application(id: "org.llavero.GTKSupportChecks")
      let code = application.run {
        let window = Window(application, title: "Checks", width: 200, height: 200)
        window.present()
        Task {
          checkSignals()
          checkDates()
          await checkRelease(application)
          await checkSubprocess()
          await checkMainQueue()
          await checkTurns(window)
        }
      }
      check("the loop ends with its last window", code == 0)
    } catch {
      check("\(error)", false)
    }
  }

  static func check(_ what: String, _ holds: Bool) {
    print(holds ? "ok" : "FAILED", what)
    fflush(nil)
  }

  static func checkSignals() {
    let button = Button("A button")
    var calls = 0
    let handler = button.connect("notify") { calls += 1 }
    button.isSensitive = false
    let connected = calls
    button.disconnect(handler)
    button.isSensitive = true
    check("a signal calls its closure until that is disconnected", connected > 0 && calls == connected)

    var wrong = ["nothing"]
    button.connect("notify") { arguments in
      let object = arguments.object(0).map { _ in "object" }
      wrong = [object, arguments.string(0), arguments.string(7)].compactMap(\.self)
      return false
    }
    button.isSensitive = false
    check("an argument is never had as what it is not", wrong.isEmpty)
  }

  static func checkDates() {
    check("a moment has a text", dateText(1_800_000_000.5).contains("January 2027"))
    let absurd = [Double(UInt64.max), -1e30, .infinity, .nan]
    check("an absurd one has none", absurd.allSatisfy { dateText($0).isEmpty })
  }

  static func checkRelease(_ application: Application) async {
    let button = Button("A button")
    weak let canary = connectCanary(to: button)
    check("a closure lives as long as it is connected", canary != nil)
    if let handler = canary?.handler { button.disconnect(handler) }
    check("it goes when it is disconnected", canary == nil)

    weak let second = connectCanary(to: Button("A button"))
    check("it goes with its widget", second == nil)

    weak let third = canaryOfClosedWindow(application)
    await turns { third == nil }
    check("what a window held goes when it is closed", third == nil)
  }

  private static func connectCanary(to button: Button) -> Canary {
    let canary = Canary()
    canary.handler = button.connect("clicked") { _ = canary.handler }
    return canary
  }

  private static func canaryOfClosedWindow(_ application: Application) -> Canary {
    let canary = Canary()
    let window = Window(application, title: "Another", width: 100, height: 100)
    let button = Button("A button")
    window.append(button)
    button.onClick { [weak window] in
      _ = canary.handler
      window?.close()
    }
    window.onCloseRequest {
      _ = canary.handler
      return true
    }
    window.present()
    window.close()
    return canary
  }

  static func checkSubprocess() async {
    // The sixth field is the session (proc_pid_stat(5)).
    let status = await Subprocess.output(of: ["cat", "/proc/self/stat"])
    let session = status.map { $0.split(separator: " ") }.flatMap { $0.count > 5 ? pid_t($0[5]) : nil }
    check(
      "a subprocess has a session of its own, without a terminal", session.map { $0 != getsid(0) } == true)
  }

  static func checkMainQueue() async {
    let onQueue = await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        DispatchQueue.main.async { continuation.resume(returning: Thread.isMainThread) }
      }
    }
    check("the main queue runs on the first thread", onQueue)
    let elsewhere = await Task.detached { isMainThread() }.value
    check("tasks of others do not", !elsewhere)
    check("a task comes back to the first thread", isMainThread())
    let later = DispatchTime.now()
    try? await Task.sleep(for: .milliseconds(20))
    check("a task can sleep", DispatchTime.now() > later && isMainThread())

    // Comes last of all there is to do: never, if the queue is announced for ever.
    await withCheckedContinuation { continuation in
      let box = Unmanaged.passRetained(IdleBox(continuation)).toOpaque()
      g_idle_add_full(
        G_PRIORITY_LOW,
        { box in
          if let box { Unmanaged<IdleBox>.fromOpaque(box).takeRetainedValue().continuation.resume() }
          return 0
        }, box, nil)
    }
    check("the loop comes to rest", true)
  }

  /// Work that never ends beside drawing that never ends.
  static func checkTurns(_ window: Window) async {
    gtk_widget_add_tick_callback(
      window.cast(),
      { _, _, _ in
        MainActor.assumeIsolated { GTKSupportChecks.frames += 1 }
        return 1
      }, nil, nil)
    // There is always one of them to do.
    for _ in 1...3 { work() }
    await turns { frames >= 20 }
    check("neither work nor drawing keeps the other waiting", true)
    window.close()
  }

  private static func work() {
    if frames < 20 { DispatchQueue.main.async { work() } }
  }

  private static var frames = 0

  /// Gives the loop turns until something holds.
  private static func turns(until holds: () -> Bool) async {
    while !holds() {
      await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
    }
  }
}

private func isMainThread() -> Bool { Thread.isMainThread }

@MainActor
private final class Canary {
  var handler: SignalHandler?
}

private final class IdleBox: Sendable {
  let continuation: CheckedContinuation<Void, Never>

  init(_ continuation: CheckedContinuation<Void, Never>) {
    self.continuation = continuation
  }
}
