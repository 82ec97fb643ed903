#include <adwaita.h>
#include <glib-unix.h>

// What libdispatch offers to the loop of another library that is to run its main queue. No header of it is installed.
int _dispatch_get_main_queue_handle_4CF(void);
void _dispatch_main_queue_callback_4CF(void *message);

// Macros with casts in them, which Swift does not see.
static const GType GTK_FUNDAMENTAL_BOOLEAN = G_TYPE_BOOLEAN;
static const GType GTK_FUNDAMENTAL_INT = G_TYPE_INT;
static const GType GTK_FUNDAMENTAL_UINT = G_TYPE_UINT;
static const GType GTK_FUNDAMENTAL_STRING = G_TYPE_STRING;
static const GType GTK_FUNDAMENTAL_OBJECT = G_TYPE_OBJECT;
static const GType GTK_FUNDAMENTAL_DOUBLE = G_TYPE_DOUBLE;

// Flags, whose names in Swift depend on the version of GLib, as Sources/CGLib/shim.h says.
static const GApplicationFlags FLAG_G_APPLICATION_NON_UNIQUE = G_APPLICATION_NON_UNIQUE;
static const GSubprocessFlags FLAG_G_SUBPROCESS_FLAGS_STDOUT_PIPE = G_SUBPROCESS_FLAGS_STDOUT_PIPE;
