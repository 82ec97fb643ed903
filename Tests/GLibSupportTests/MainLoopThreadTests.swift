import CGLib
import Dispatch
import TestSupport

@Suite(.timeLimit(.minutes(20)))
struct MainLoopThreadTests {
  @Test func `Work runs in order on one thread whose context is the loops`() async {
    let thread = MainLoopThread(name: "test")
    let seen = Mutex<[(number: Int, thread: pthread_t)]>([])
    await withCheckedContinuation { continuation in
      for number in 0..<100 {
        thread.invoke { seen.withLock { $0.append((number, pthread_self())) } }
      }
      thread.invoke {
        #expect(g_main_context_get_thread_default() == thread.context)
        continuation.resume()
      }
    }
    let result = seen.withLock { $0 }
    #expect(result.map(\.number) == Array(0..<100))
    #expect(Set(result.map(\.thread)).count == 1)
    #expect(result.first?.thread != pthread_self())
  }

  @Test func `Work invoked on the thread runs at once`() async {
    let thread = MainLoopThread(name: "test")
    let order = Mutex<[Int]>([])
    await withCheckedContinuation { continuation in
      thread.invoke {
        thread.invoke { order.withLock { $0.append(1) } }
        order.withLock { $0.append(2) }
        continuation.resume()
      }
    }
    #expect(order.withLock { $0 } == [1, 2])
  }

  @Test func `Work invoked before the end runs and is released`() async throws {
    final class Witness: Sendable {}
    for _ in 0..<100 {
      weak var witness: Witness?
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        let held = Witness()
        witness = held
        let thread = MainLoopThread(name: "test")
        thread.invoke {
          withExtendedLifetime(held) {}
          continuation.resume()
        }
      }
      try await eventually { witness == nil }
    }
  }

  @Test(arguments: ["ends-elsewhere", "ends-on-itself"])
  func `The thread ends with its last reference`(_ name: String) async throws {
    var directories: [String] = []
    for _ in 0..<20 {
      let thread = MainLoopThread(name: name)
      let directory = await withCheckedContinuation { continuation in
        thread.invoke {
          let path = realpath("/proc/thread-self", nil)
          defer { free(path) }
          continuation.resume(returning: path.map { String(cString: $0) } ?? "")
        }
      }
      #expect(isThread(directory, named: name))
      directories.append(directory)
      if name == "ends-on-itself" { thread.invoke { withExtendedLifetime(thread) {} } }
    }
    try await eventually { !directories.contains { isThread($0, named: name) } }
  }

  @Test func `A thread that is dropped before its loop begins ends`() async {
    await #expect(processExitsWith: .success) {
      func isEnded() -> Bool {
        // The rest is the test library's.
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? .max < 100
      }
      for _ in 0..<200 { _ = MainLoopThread(name: "dropped") }
      try await eventually { isEnded() }
    }
  }

  private func isThread(_ directory: String, named name: String) -> Bool {
    (try? String(contentsOfFile: directory + "/comm", encoding: .utf8)) == "\(name)\n"
  }
}
