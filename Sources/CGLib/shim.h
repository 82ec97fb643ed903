#pragma once
// Swift may take this module for the owner of C's own structures, such as stat: that depends on the files that are compiled
// together. So files that use their members import it, too.
#include <gio/gio.h>
#include <glib-unix.h>
// What Swift's Glibc leaves out.
#include <malloc.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

// Flags for Swift. From version 2.88 on GLib marks its enums of flags as such, and Swift sees the constants of these enums
// under other names.
#define FLAG(type, name) static const type FLAG_##name = name;
FLAG(GDBusConnectionFlags, G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT)
FLAG(GDBusConnectionFlags, G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION)
FLAG(GDBusProxyFlags, G_DBUS_PROXY_FLAGS_DO_NOT_AUTO_START)
FLAG(GDBusProxyFlags, G_DBUS_PROXY_FLAGS_DO_NOT_CONNECT_SIGNALS)
FLAG(GDBusProxyFlags, G_DBUS_PROXY_FLAGS_DO_NOT_LOAD_PROPERTIES)
FLAG(GOutputStreamSpliceFlags, G_OUTPUT_STREAM_SPLICE_CLOSE_TARGET)
FLAG(GSpawnFlags, G_SPAWN_CHILD_INHERITS_STDIN)
FLAG(GSpawnFlags, G_SPAWN_DO_NOT_REAP_CHILD)
FLAG(GSpawnFlags, G_SPAWN_LEAVE_DESCRIPTORS_OPEN)
FLAG(GSpawnFlags, G_SPAWN_SEARCH_PATH)
FLAG(GSpawnFlags, G_SPAWN_STDERR_TO_DEV_NULL)
FLAG(GSpawnFlags, G_SPAWN_STDOUT_TO_DEV_NULL)
FLAG(GTlsCertificateFlags, G_TLS_CERTIFICATE_BAD_IDENTITY)
FLAG(GTlsCertificateFlags, G_TLS_CERTIFICATE_EXPIRED)
FLAG(GTlsCertificateFlags, G_TLS_CERTIFICATE_NOT_ACTIVATED)
FLAG(GTlsCertificateFlags, G_TLS_CERTIFICATE_REVOKED)
FLAG(GTlsCertificateFlags, G_TLS_CERTIFICATE_UNKNOWN_CA)
FLAG(GUriFlags, G_URI_FLAGS_ENCODED_PATH)
FLAG(GUriFlags, G_URI_FLAGS_ENCODED_QUERY)
FLAG(GUriFlags, G_URI_FLAGS_HAS_PASSWORD)
FLAG(GUriFlags, G_URI_FLAGS_SCHEME_NORMALIZE)
