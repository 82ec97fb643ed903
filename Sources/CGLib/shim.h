#include <gio/gio.h>
#include <glib-unix.h>
// What Swift's Glibc leaves out.
#include <sys/sysmacros.h>
#include <sys/vfs.h>
