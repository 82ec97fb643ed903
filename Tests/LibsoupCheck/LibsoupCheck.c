/* Compiles only if what Sources/LibsoupOnDemand declares is what libsoup's own header says. */
#include <libsoup/soup.h>
#define LIBSOUP_IS_DECLARED
#include "../../Sources/LibsoupOnDemand/include/LibsoupOnDemand.h"

#define CHECK(name, value) _Static_assert((value) == name, #name);
LIBSOUP_CONSTANTS(CHECK)
