/* Arenas: many small allocations, one lifetime, freed in one call.
 *
 * A result lives in the arena that its maker was handed, as the first
 * parameter.  Work space lives in an arena of the function's own.  Pointers
 * may lead from a short-lived arena to a long-lived one, never back. */
#ifndef TDL_BASE_ARENA_H
#define TDL_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

typedef struct arena arena;

/* A new, empty arena, of the current memory if there is one (base/memory.h);
 * arena_free() ends it and all that it holds.  NULL is accepted by
 * arena_free(). */
arena *arena_new(void);
void arena_free(arena *a);

/* Makes an arena of an earlier call of a memory one of the current call, which
 * ends it if it fails. */
void arena_hand_over(arena *a);

/* Moves all that `from' holds into a, where it stays where it is, and ends
 * `from'.  Both are of one memory. */
void arena_join(arena *a, arena *from);

/* nbytes of zeroed memory, aligned for any type.  Never fails: when memory is
 * exhausted it ends the memory_call() that is running, or aborts, so a size
 * that comes from a file has to be checked by the caller before
 * (base/checked.h). */
void *arena_alloc(arena *a, size_t nbytes);

/* Bytes handed out so far. */
size_t arena_used(const arena *a);

/* n zeroed objects of one type.  n * sizeof(type) is checked. */
#define ARENA_NEW(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define ARENA_ARRAY(a, type, n) \
	((type *)arena_calloc((a), (size_t)(n), sizeof(type)))
void *arena_calloc(arena *a, size_t n, size_t size);

/* A copy of n objects. */
#define ARENA_COPY(a, src, n) \
	arena_memdup((a), (src), (size_t)(n) * sizeof(*(src)))
void *arena_memdup(arena *a, const void *src, size_t nbytes);

/* Strings, zero-terminated copies. */
char *arena_strdup(arena *a, const char *s);
char *arena_strndup(arena *a, const char *s, size_t n);
char *arena_printf(arena *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
char *arena_vprintf(arena *a, const char *fmt, va_list ap);

#endif
