/* Arenas: many small allocations with one lifetime, freed in one call.
 *
 * A function that returns an allocated result takes the result's arena as its
 * first parameter.  It creates an arena of its own for work space.  Pointers
 * may lead from a short-lived arena to a long-lived one, never back. */
#ifndef TDL_BASE_ARENA_H
#define TDL_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

typedef struct arena arena;

/* Returns a new, empty arena.  It takes its blocks from the thread's current
 * memory if there is one (base/memory.h), else from malloc(). arena_free()
 * frees the arena and all that it holds; it accepts NULL. */
arena *arena_new(void);
void arena_free(arena *a);

/* Moves an arena that was made in an earlier memory_call() into the current
 * call, which frees it if the call fails. */
void arena_hand_over(arena *a);

/* Moves all that `from' holds into a, and frees `from' itself.  Addresses stay
 * valid.  Both arenas must belong to the same memory. */
void arena_join(arena *a, arena *from);

/* Returns nbytes of zeroed memory, aligned for any type.  Never returns NULL:
 * when memory is exhausted it ends the running memory_call(), or aborts.
 * Callers must check sizes that come from files first (base/checked.h). */
void *arena_alloc(arena *a, size_t nbytes);

/* Bytes handed out so far. */
size_t arena_used(const arena *a);

/* n zeroed objects of one type.  The product n * sizeof(type) is checked. */
#define ARENA_NEW(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define ARENA_ARRAY(a, type, n) \
	((type *)arena_calloc((a), (size_t)(n), sizeof(type)))
void *arena_calloc(arena *a, size_t n, size_t size);

/* A copy of n objects. */
#define ARENA_COPY(a, src, n) \
	arena_memdup((a), (src), (size_t)(n) * sizeof(*(src)))
void *arena_memdup(arena *a, const void *src, size_t nbytes);

/* Zero-terminated copies of strings. */
char *arena_strdup(arena *a, const char *s);
char *arena_strndup(arena *a, const char *s, size_t n);
char *arena_printf(arena *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
char *arena_vprintf(arena *a, const char *fmt, va_list ap);

#endif
