#include "LibsoupOnDemand.h"
#include <dlfcn.h>
#include <pthread.h>

static struct {
#define POINTER(result, name, parameters, arguments) result(*name) parameters;
  LIBSOUP_FUNCTIONS(POINTER)
} libsoup;

#define CALL(result, name, parameters, arguments) \
  result name parameters { return libsoup.name arguments; }
LIBSOUP_FUNCTIONS(CALL)

/* libsoup 3 ends the process where it finds this symbol of libsoup 2, as it is loaded. */
static gboolean has_libsoup_2(void) {
  void *program = dlopen(NULL, RTLD_LAZY);
  gboolean result = program && dlsym(program, "soup_uri_new");
  if (program) dlclose(program);
  return result;
}

static const char *load(void) {
  if (has_libsoup_2())
    return "This process has libsoup 2 loaded, beside which libsoup 3 cannot be used.";
  void *library = dlopen("libsoup-3.0.so.0", RTLD_NOW | RTLD_LOCAL);
#define FIND(result, name, parameters, arguments) \
  if (library) *(void **)&libsoup.name = dlsym(library, #name); \
  if (!libsoup.name) return g_strdup_printf("libsoup 3.2 or later is missing: %s.", dlerror());
  LIBSOUP_FUNCTIONS(FIND)
  return NULL;
}

static const char *problem;

static void note_problem(void) { problem = load(); }

/* pthread_once rather than GLib's, which the thread sanitizer does not see. */
const char *llavero_libsoup_problem(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, note_problem);
  return problem;
}
