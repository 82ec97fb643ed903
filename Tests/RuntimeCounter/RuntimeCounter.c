#include "RuntimeCounter.h"

#include <stddef.h>

// A sanitizer has a malloc of its own.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif

static _Thread_local bool is_counting;
static _Thread_local unsigned long count;

bool runtime_counter_start(void) {
  count = 0;
#ifdef HAS_SANITIZER
  return false;
#else
  is_counting = true;
  return true;
#endif
}

unsigned long runtime_counter_stop(void) {
  is_counting = false;
  return count;
}

#ifndef HAS_SANITIZER
// glibc calls these in place of its own; the memory is its own, and so are the functions that free it.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t number, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

void *malloc(size_t size) {
  if (is_counting) count += size;
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  if (is_counting) count += number * size;
  return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
  if (is_counting) count += size;
  return __libc_realloc(memory, size);
}
#endif
