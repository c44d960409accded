#include "config.h"

#include "base/arena.h"

#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Under AddressSanitizer only memory that was handed out may be accessed. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define SANITIZED
#endif
#ifdef SANITIZED
#include <sanitizer/asan_interface.h>
enum { GAP = 16 }; /* bytes between two objects */
#else
#define ASAN_POISON_MEMORY_REGION(at, n) ((void)(at), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(at, n) ((void)(at), (void)(n))
enum { GAP = 0 };
#endif

enum { FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20 };

typedef struct block {
	struct block *next;
	size_t used, size;
	bool clean; /* its memory is zeroed */
	alignas(max_align_t) unsigned char at[];
} block;

struct arena {
	memory_item item;
	block *top;
	size_t used;
	size_t next_size;
};

static _Noreturn void give_up(void)
{
	if (memory_current())
		memory_fail(MEMORY_EXHAUSTED);
	fputs("tdl: out of memory\n", stderr);
	abort();
}

static void *or_give_up(void *p)
{
	if (!p)
		give_up();
	return p;
}

static void end_arena(memory_item *i)
{
	arena *a = (arena *)i;
	for (block *b = a->top, *next; b; b = next) {
		next = b->next;
		ASAN_UNPOISON_MEMORY_REGION(b->at, b->size);
		memory_give(i->of, b, sizeof(*b) + b->size);
	}
	memory_give(i->of, a, sizeof(*a));
}

arena *arena_new(void)
{
	memory *m = memory_current();
	arena *a = or_give_up(memory_take(m, sizeof(*a), true));
	memory_enter(m, &a->item, end_arena);
	a->next_size = FIRST_BLOCK;
	return a;
}

void arena_free(arena *a)
{
	if (!a)
		return;
	memory_leave(&a->item);
	end_arena(&a->item);
}

void arena_hand_over(arena *a)
{
	memory *m = a->item.of;
	memory_leave(&a->item);
	memory_enter(m, &a->item, end_arena);
}

void arena_join(arena *a, arena *from)
{
	block **end = &a->top;
	while (*end)
		end = &(*end)->next;
	*end = from->top;
	from->top = NULL;
	a->used += from->used;
	arena_free(from);
}

/* Adds a block.  A block for a single object is allocated zeroed, which is
 * cheap if the system provides fresh pages.  In other blocks each object is
 * zeroed when it is allocated, so unused memory is not touched. */
static block *add_block(arena *a, size_t nbytes)
{
	size_t size = nbytes > a->next_size ? nbytes : a->next_size;
	bool clean = size == nbytes;
	block *b = or_give_up(memory_take(a->item.of, sizeof(*b) + size,
					  clean));
	ASAN_POISON_MEMORY_REGION(b->at, size);
	b->used = 0;
	b->size = size;
	b->clean = clean;
	if (a->next_size < LARGEST_BLOCK)
		a->next_size *= 2;
	/* A block for one large object goes below the top block, whose rest
	 * remains in use. */
	if (a->top && nbytes == size && a->top->size > a->top->used) {
		b->next = a->top->next;
		a->top->next = b;
	} else {
		b->next = a->top;
		a->top = b;
	}
	return b;
}

void *arena_alloc(arena *a, size_t nbytes)
{
	const size_t align = alignof(max_align_t);
	if (nbytes > SIZE_MAX / 2)
		give_up();
	size_t room = (nbytes + GAP + align - 1) & ~(align - 1);
	block *b = a->top;
	if (!b || b->size - b->used < room)
		b = add_block(a, room);
	void *p = b->at + b->used;
	ASAN_UNPOISON_MEMORY_REGION(p, nbytes);
	if (!b->clean)
		memset(p, 0, nbytes);
	b->used += room;
	a->used += room;
	return p;
}

void *arena_calloc(arena *a, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / 2 / size)
		give_up();
	return arena_alloc(a, n * size);
}

size_t arena_used(const arena *a)
{
	return a->used;
}

void *arena_memdup(arena *a, const void *src, size_t nbytes)
{
	void *p = arena_alloc(a, nbytes);
	if (nbytes)
		memcpy(p, src, nbytes);
	return p;
}

char *arena_strndup(arena *a, const char *s, size_t n)
{
	char *p = arena_alloc(a, n + 1);
	if (n)
		memcpy(p, s, n);
	p[n] = '\0';
	return p;
}

char *arena_strdup(arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *arena_vprintf(arena *a, const char *fmt, va_list ap)
{
	va_list again;
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	assert(n >= 0);
	char *p = arena_alloc(a, (size_t)n + 1);
	vsnprintf(p, (size_t)n + 1, fmt, again);
	va_end(again);
	return p;
}

char *arena_printf(arena *a, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	char *p = arena_vprintf(a, fmt, ap);
	va_end(ap);
	return p;
}
