#ifndef RUNTIME_COUNTER_H
#define RUNTIME_COUNTER_H

#include <stdbool.h>

/// Begins to count what this thread allocates. Returns false where that cannot be counted: under a sanitizer.
bool runtime_counter_start(void);

/// Returns how many bytes this thread has allocated since the start, and stops counting.
unsigned long runtime_counter_stop(void);

#endif
