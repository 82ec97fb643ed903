#include "../CGLib/shim.h"
#include <libsoup/soup.h>
