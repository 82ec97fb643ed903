#ifndef RUNTIME_COUNTER_H
#define RUNTIME_COUNTER_H

#include <stdbool.h>

/// Begins to count the allocations of this thread. Returns false where they cannot be counted: under a sanitizer.
bool runtime_counter_start(void);

/// Returns how many there were on this thread since the start, and stops counting.
unsigned long runtime_counter_stop(void);

#endif
