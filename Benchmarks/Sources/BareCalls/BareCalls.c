#define SECRET_API_SUBJECT_TO_CHANGE
#include "BareCalls.h"

#include <libsecret/secret.h>
#include <stdlib.h>

#define ITEM "org.freedesktop.Secret.Item"

static SecretService *service;

static void check(GError *error) {
  if (error == NULL) return;
  g_printerr("bare call: %s\n", error->message);
  exit(1);
}

static GHashTable *attributes(const char *group, const char *shard) {
  GHashTable *table = g_hash_table_new(g_str_hash, g_str_equal);
  g_hash_table_insert(table, "group", (gpointer)group);
  if (shard != NULL) {
    g_hash_table_insert(table, "shard", (gpointer)shard);
    g_hash_table_insert(table, "xdg:schema", "org.llavero.BareCalls");
    g_hash_table_insert(table, "version", "1");
  }
  return table;
}

void bare_connect(void) {
  GError *error = NULL;
  service = secret_service_get_sync(SECRET_SERVICE_OPEN_SESSION, NULL, &error);
  check(error);
}

char *bare_create(const char *group, const char *shard, const char *secret, size_t length) {
  GError *error = NULL;
  GHashTable *table = attributes(group, shard);
  GHashTable *properties =
      g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)g_variant_unref);
  g_hash_table_insert(properties, ITEM ".Label",
                      g_variant_ref_sink(g_variant_new_string("Bare call")));
  GVariantBuilder builder;
  g_variant_builder_init(&builder, G_VARIANT_TYPE("a{ss}"));
  GHashTableIter iterator;
  gpointer name, text;
  g_hash_table_iter_init(&iterator, table);
  while (g_hash_table_iter_next(&iterator, &name, &text)) g_variant_builder_add(&builder, "{ss}", name, text);
  g_hash_table_insert(properties, ITEM ".Attributes",
                      g_variant_ref_sink(g_variant_builder_end(&builder)));
  SecretValue *value = secret_value_new(secret, (gssize)length, "text/plain");
  char *path = secret_service_create_item_dbus_path_sync(service, "/org/freedesktop/secrets/aliases/default",
                                                         properties, value, SECRET_ITEM_CREATE_NONE, NULL, &error);
  check(error);
  secret_value_unref(value);
  g_hash_table_unref(properties);
  g_hash_table_unref(table);
  return path;
}

void bare_get_and_set(const char *path, const char *secret, size_t length) {
  GError *error = NULL;
  SecretValue *old = secret_service_get_secret_for_dbus_path_sync(service, path, NULL, &error);
  check(error);
  secret_value_unref(old);
  SecretValue *value = secret_value_new(secret, (gssize)length, "text/plain");
  GVariant *encoded = secret_service_encode_dbus_secret(service, value);
  GVariant *answer = g_dbus_connection_call_sync(
      g_dbus_proxy_get_connection(G_DBUS_PROXY(service)), g_dbus_proxy_get_name(G_DBUS_PROXY(service)), path,
      ITEM, "SetSecret", g_variant_new_tuple(&encoded, 1), NULL, G_DBUS_CALL_FLAGS_NONE, -1,
      NULL, &error);
  check(error);
  g_variant_unref(answer);
  secret_value_unref(value);
}

size_t bare_read_all(const char *group) {
  GError *error = NULL;
  GHashTable *table = attributes(group, NULL);
  gchar **paths = NULL;
  secret_service_search_for_dbus_paths_sync(service, NULL, table, NULL, &paths, NULL, &error);
  check(error);
  GHashTable *secrets =
      secret_service_get_secrets_for_dbus_paths_sync(service, (const gchar **)paths, NULL, &error);
  check(error);
  size_t bytes = 0;
  GHashTableIter iterator;
  gpointer value;
  g_hash_table_iter_init(&iterator, secrets);
  while (g_hash_table_iter_next(&iterator, NULL, &value)) {
    gsize length;
    secret_value_get(value, &length);
    bytes += length;
  }
  g_hash_table_unref(secrets);
  g_strfreev(paths);
  g_hash_table_unref(table);
  return bytes;
}
