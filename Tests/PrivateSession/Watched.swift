import Glibc

/// A value whose changes threads can wait for.
///
/// `@unchecked Sendable`: the value is used under the lock alone.
package final class Watched<Value: Sendable>: @unchecked Sendable {
  private var value: Value
  private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  package init(_ value: Value) {
    self.value = value
    pthread_mutex_init(lock, nil)
    pthread_cond_init(changed, nil)
  }

  deinit {
    pthread_cond_destroy(changed)
    pthread_mutex_destroy(lock)
    changed.deallocate()
    lock.deallocate()
  }

  package func read<T>(_ body: (Value) -> T) -> T {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    return body(value)
  }

  @discardableResult
  package func change<T>(_ body: (inout Value) -> T) -> T {
    pthread_mutex_lock(lock)
    defer {
      pthread_cond_broadcast(changed)
      pthread_mutex_unlock(lock)
    }
    return body(&value)
  }

  package func wait(until holds: (Value) -> Bool) {
    pthread_mutex_lock(lock)
    while !holds(value) { pthread_cond_wait(changed, lock) }
    pthread_mutex_unlock(lock)
  }
}
