#include "../CGLib/shim.h"
/* Opens libsecret's path-level calls, which its headers mark as open to change. */
#define SECRET_API_SUBJECT_TO_CHANGE
#include <libsecret/secret.h>
