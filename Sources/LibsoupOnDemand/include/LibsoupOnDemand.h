/* What Llavero uses of libsoup 3, under its names. The first request loads the library, not the start of the program, which
   may need no request: a token that is in the cache. libsoup's own header comes with the link to it. */
#pragma once
#include "../../CGLib/shim.h"

typedef struct _SoupMessage SoupMessage;
typedef struct _SoupMessageHeaders SoupMessageHeaders;
typedef struct _SoupMessageMetrics SoupMessageMetrics;
typedef struct _SoupServer SoupServer;
typedef struct _SoupServerMessage SoupServerMessage;
typedef struct _SoupSession SoupSession;
typedef void (*SoupServerCallback)(SoupServer *, SoupServerMessage *, const char *path, GHashTable *query, gpointer);

/* Name and value of each constant. */
#define LIBSOUP_CONSTANTS(CONSTANT) \
  CONSTANT(SOUP_ENCODING_CHUNKED, 4) \
  CONSTANT(SOUP_ENCODING_EOF, 3) \
  CONSTANT(SOUP_MEMORY_COPY, 2) \
  CONSTANT(SOUP_MESSAGE_COLLECT_METRICS, 1 << 5) \
  CONSTANT(SOUP_MESSAGE_IDEMPOTENT, 1 << 3) \
  CONSTANT(SOUP_MESSAGE_NEW_CONNECTION, 1 << 2) \
  CONSTANT(SOUP_MESSAGE_NO_REDIRECT, 1 << 1) \
  CONSTANT(SOUP_SESSION_ERROR_ENCODING, 1) \
  CONSTANT(SOUP_SESSION_ERROR_PARSING, 0) \
  CONSTANT(SOUP_SESSION_ERROR_TOO_MANY_RESTARTS, 3)

/* Where libsoup's header is included, too, it has the right of way: then this one only says what it takes for true. */
#ifndef LIBSOUP_IS_DECLARED
typedef struct _SoupMessageBody SoupMessageBody;
typedef struct {
  gpointer dummy[3];
} SoupMessageHeadersIter;
#define LIBSOUP_DEFINE(name, value) static const guint name = value;
LIBSOUP_CONSTANTS(LIBSOUP_DEFINE)
#endif

/* Result, name, parameters and arguments of each function. */
#define LIBSOUP_FUNCTIONS(FUNCTION) \
  FUNCTION(GType, soup_auth_manager_get_type, (void), ()) \
  FUNCTION(GType, soup_content_decoder_get_type, (void), ()) \
  FUNCTION(void, soup_header_free_list, (GSList * list), (list)) \
  FUNCTION(GSList *, soup_header_parse_quality_list, (const char *header, GSList **unacceptable), (header, unacceptable)) \
  FUNCTION(void, soup_message_add_flags, (SoupMessage * message, guint flags), (message, flags)) \
  FUNCTION(void, soup_message_body_set_accumulate, (SoupMessageBody * body, gboolean accumulate), (body, accumulate)) \
  FUNCTION(void, soup_message_disable_feature, (SoupMessage * message, GType feature), (message, feature)) \
  FUNCTION(const char *, soup_message_get_method, (SoupMessage * message), (message)) \
  FUNCTION(SoupMessageMetrics *, soup_message_get_metrics, (SoupMessage * message), (message)) \
  FUNCTION(SoupMessageHeaders *, soup_message_get_request_headers, (SoupMessage * message), (message)) \
  FUNCTION(SoupMessageHeaders *, soup_message_get_response_headers, (SoupMessage * message), (message)) \
  FUNCTION(guint, soup_message_get_status, (SoupMessage * message), (message)) \
  FUNCTION(GTlsCertificate *, soup_message_get_tls_peer_certificate, (SoupMessage * message), (message)) \
  FUNCTION(GTlsCertificateFlags, soup_message_get_tls_peer_certificate_errors, (SoupMessage * message), (message)) \
  FUNCTION(void, soup_message_headers_append, (SoupMessageHeaders * headers, const char *name, const char *value), \
           (headers, name, value)) \
  FUNCTION(goffset, soup_message_headers_get_content_length, (SoupMessageHeaders * headers), (headers)) \
  FUNCTION(guint, soup_message_headers_get_encoding, (SoupMessageHeaders * headers), (headers)) \
  FUNCTION(const char *, soup_message_headers_get_list, (SoupMessageHeaders * headers, const char *name), (headers, name)) \
  FUNCTION(void, soup_message_headers_iter_init, (SoupMessageHeadersIter * iterator, SoupMessageHeaders *headers), \
           (iterator, headers)) \
  FUNCTION(gboolean, soup_message_headers_iter_next, \
           (SoupMessageHeadersIter * iterator, const char **name, const char **value), (iterator, name, value)) \
  FUNCTION(void, soup_message_headers_replace, (SoupMessageHeaders * headers, const char *name, const char *value), \
           (headers, name, value)) \
  FUNCTION(void, soup_message_headers_set_encoding, (SoupMessageHeaders * headers, guint encoding), (headers, encoding)) \
  FUNCTION(guint64, soup_message_metrics_get_response_header_bytes_received, (SoupMessageMetrics * metrics), (metrics)) \
  FUNCTION(SoupMessage *, soup_message_new_from_uri, (const char *method, GUri *uri), (method, uri)) \
  FUNCTION(void, soup_message_set_request_body_from_bytes, \
           (SoupMessage * message, const char *content_type, GBytes *bytes), (message, content_type, bytes)) \
  FUNCTION(gboolean, soup_server_accept_iostream, \
           (SoupServer * server, GIOStream *stream, GSocketAddress *local, GSocketAddress *remote, GError **error), \
           (server, stream, local, remote, error)) \
  FUNCTION(void, soup_server_add_handler, \
           (SoupServer * server, const char *path, SoupServerCallback callback, gpointer data, GDestroyNotify destroy), \
           (server, path, callback, data, destroy)) \
  FUNCTION(void, soup_server_disconnect, (SoupServer * server), (server)) \
  FUNCTION(GType, soup_server_get_type, (void), ()) \
  FUNCTION(const char *, soup_server_message_get_method, (SoupServerMessage * message), (message)) \
  FUNCTION(GSocketAddress *, soup_server_message_get_remote_address, (SoupServerMessage * message), (message)) \
  FUNCTION(SoupMessageBody *, soup_server_message_get_request_body, (SoupServerMessage * message), (message)) \
  FUNCTION(SoupMessageHeaders *, soup_server_message_get_request_headers, (SoupServerMessage * message), (message)) \
  FUNCTION(SoupMessageHeaders *, soup_server_message_get_response_headers, (SoupServerMessage * message), (message)) \
  FUNCTION(GUri *, soup_server_message_get_uri, (SoupServerMessage * message), (message)) \
  FUNCTION(void, soup_server_message_pause, (SoupServerMessage * message), (message)) \
  FUNCTION(void, soup_server_message_set_response, \
           (SoupServerMessage * message, const char *content_type, guint use, const char *body, gsize length), \
           (message, content_type, use, body, length)) \
  FUNCTION(void, soup_server_message_set_status, (SoupServerMessage * message, guint status, const char *reason), \
           (message, status, reason)) \
  FUNCTION(void, soup_server_message_unpause, (SoupServerMessage * message), (message)) \
  FUNCTION(void, soup_server_remove_handler, (SoupServer * server, const char *path), (server, path)) \
  FUNCTION(void, soup_session_abort, (SoupSession * session), (session)) \
  FUNCTION(GType, soup_session_get_type, (void), ()) \
  FUNCTION(void, soup_session_remove_feature_by_type, (SoupSession * session, GType feature), (session, feature)) \
  FUNCTION(void, soup_session_send_async, \
           (SoupSession * session, SoupMessage *message, int priority, GCancellable *cancellable, \
            GAsyncReadyCallback callback, gpointer data), \
           (session, message, priority, cancellable, callback, data)) \
  FUNCTION(GInputStream *, soup_session_send_finish, (SoupSession * session, GAsyncResult *result, GError **error), \
           (session, result, error)) \
  FUNCTION(void, soup_session_set_idle_timeout, (SoupSession * session, guint seconds), (session, seconds)) \
  FUNCTION(void, soup_session_set_proxy_resolver, (SoupSession * session, GProxyResolver *resolver), (session, resolver)) \
  FUNCTION(void, soup_session_set_timeout, (SoupSession * session, guint seconds), (session, seconds)) \
  FUNCTION(void, soup_session_set_tls_database, (SoupSession * session, GTlsDatabase *database), (session, database))

/* Each has a symbol of its own, which does not clash with those of a program that links libsoup. */
#ifdef LIBSOUP_IS_DECLARED
#define LIBSOUP_DECLARE(result, name, parameters, arguments) result name parameters;
#else
#define LIBSOUP_DECLARE(result, name, parameters, arguments) result name parameters __asm__("llavero_" #name);
#endif
LIBSOUP_FUNCTIONS(LIBSOUP_DECLARE)

/* Loads libsoup, once. Returns NULL, or a sentence that says why it cannot be; no other function may be called then, nor
   before. */
const char *llavero_libsoup_problem(void);
