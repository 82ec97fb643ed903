import Dispatch
import Glibc
import Synchronization

/// The lock of a file (flock), held by this process.
///
/// It is released after ten minutes, so that a test fails, and does not hang, when the code that it is about waits for the
/// lock.
public final class HeldLock: Sendable {
  private let descriptor: Int32
  private let state = Mutex(true)

  public init(on path: String) throws {
    descriptor = open(path, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0, flock(descriptor, LOCK_EX) == 0 else {
      throw SetUpFailure("\(path) cannot be locked: \(String(cString: strerror(errno)))")
    }
    DispatchQueue(label: "test.lock").asyncAfter(deadline: .now() + .seconds(600)) { [weak self] in
      self?.release()
    }
  }

  deinit { close(descriptor) }

  public var isHeld: Bool { state.withLock(\.self) }

  public func release() {
    state.withLock { isHeld in
      if isHeld { flock(descriptor, LOCK_UN) }
      isHeld = false
    }
  }
}
