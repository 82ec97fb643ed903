// Tells the thread sanitizer what it does not see in libraries of Swift's, which were built without it, and what would
// make things look like races: how a Synchronization.Mutex that several threads want at once goes from one to the next,
// and that a task goes on after its continuation was resumed, where that came before the task waited for it.
// Preloaded by Tests/sanitize; in programs without the sanitizer it does nothing but pass the calls on.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *mutex
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));

SWIFT void lock(uint32_t thread, SELF) __asm__(LOCK);
SWIFT bool try_lock(SELF) __asm__(TRY_LOCK);
SWIFT void unlock(SELF) __asm__(UNLOCK);

SWIFT void lock(uint32_t thread, SELF) {
  SWIFT void (*next)(uint32_t, SELF) = dlsym(RTLD_NEXT, LOCK);
  next(thread, mutex);
  if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT bool try_lock(SELF) {
  SWIFT bool (*next)(SELF) = dlsym(RTLD_NEXT, TRY_LOCK);
  bool is_locked = next(mutex);
  if (is_locked && __tsan_acquire) __tsan_acquire(mutex);
  return is_locked;
}

SWIFT void unlock(SELF) {
  SWIFT void (*next)(SELF) = dlsym(RTLD_NEXT, UNLOCK);
  if (__tsan_release) __tsan_release(mutex);
  next(mutex);
}

extern SWIFT void *swift_task_getCurrent(void) __attribute__((weak));

// What a task calls when the asynchronous function that it waited for has returned. What resumes a continuation
// releases its task.
SWIFT void swift_task_dealloc(void *context) {
  static SWIFT void (*next)(void *);
  if (!next) next = dlsym(RTLD_NEXT, "swift_task_dealloc");
  if (__tsan_acquire) __tsan_acquire(swift_task_getCurrent());
  next(context);
}
