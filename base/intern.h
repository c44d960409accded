/* Interned strings, and a hash map keyed by strings.  Used wherever names of
 * the language, of models and of files are looked up. */
#ifndef TDL_BASE_INTERN_H
#define TDL_BASE_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* A set of strings in which equal strings have the same address, so that
 * callers compare them by ==. The strings live in the interner's arena. */
typedef struct interner interner;

interner *interner_new(arena *a);
const char *intern(interner *t, const char *s);
const char *intern_n(interner *t, const char *s, size_t n);

/* A map from strings (compared by content, not copied) to pointers. */
typedef struct strmap strmap;

strmap *strmap_new(arena *a);
void *strmap_get(const strmap *m, const char *key); /* NULL if absent */
void strmap_put(strmap *m, const char *key, void *value);
int strmap_count(const strmap *m);

/* The i-th pair in the order of first insertion, 0 <= i < strmap_count(). */
const char *strmap_key(const strmap *m, int i);
void *strmap_value(const strmap *m, int i);

#endif
