/* What the keyring costs without Llavero: plain libsecret and GDBus calls on the default collection, through
   one connection with libsecret's encrypted session. Every function ends the process when a call fails. */

#include <stddef.h>

/* Connects and opens the session. */
void bare_connect(void);

/* Makes an item with the attributes `group` and `shard` and returns its path, to be freed. */
char *bare_create(const char *group, const char *shard, const char *secret, size_t length);

/* Reads an item's secret with one call and sets it to the bytes given with another. */
void bare_get_and_set(const char *path, const char *secret, size_t length);

/* Finds all items of a group with one call and reads their secrets with another; returns how many bytes. */
size_t bare_read_all(const char *group);
