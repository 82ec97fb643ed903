#include "LibsoupOnDemand.h"
#include <dlfcn.h>

static struct {
#define POINTER(result, name, parameters, arguments) result(*name) parameters;
  LIBSOUP_FUNCTIONS(POINTER)
} libsoup;

#define CALL(result, name, parameters, arguments) \
  result name parameters { return libsoup.name arguments; }
LIBSOUP_FUNCTIONS(CALL)

static const char *load(void) {
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
