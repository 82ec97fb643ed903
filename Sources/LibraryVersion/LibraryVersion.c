#include "LibraryVersion.h"

const char *library_version(void) { return LIBRARY_VERSION; }
