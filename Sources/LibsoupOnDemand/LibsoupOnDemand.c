#include "LibsoupOnDemand.h"
#include <dlfcn.h>

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

const char *llavero_libsoup_problem(void) {
  static gsize isLoaded = 0;
  static const char *problem = NULL;
  if (g_once_init_enter(&isLoaded)) {
    problem = load();
    g_once_init_leave(&isLoaded, 1);
  }
  return problem;
}
