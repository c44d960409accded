#include "config.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

typedef struct memory_frame {
	struct memory_frame *outer;
	uint64_t serial; /* that of the newest item when the call began */
	struct json_values *values;
	jmp_buf back;
} memory_frame;

/* Set while memory_call() runs, and restored by it.  It replaces an argument
 * that every function of the compiler would have to pass on. */
static _Thread_local memory *current;

memory *memory_current(void)
{
	return current;
}

/* ---- calls -------------------------------------------------------------- */

/* The newest guard with a later serial number; NULL if there is none. */
static memory_item *find_guard(const memory *m, uint64_t serial)
{
	memory_item *i = m->items;
	while (i && i->serial > serial && !i->is_guard)
		i = i->older;
	return i && i->serial > serial ? i : NULL;
}

static void unwind(memory *m, uint64_t serial)
{
	for (memory_item *i; (i = find_guard(m, serial));) {
		memory_leave(i);
		i->end(i);
	}
	while (m->items && m->items->serial > serial) {
		memory_item *i = m->items;
		memory_leave(i);
		i->end(i);
	}
}

memory_end memory_call(memory *m, void (*body)(void *arg), void *arg)
{
	memory *const outer = current;
	memory_frame f = { .outer = m->frame, .serial = m->serial,
			   .values = m->values };
	m->frame = &f;
	m->values = NULL;
	current = m;
	if (setjmp(f.back) == 0) {
		body(arg);
		m->why = MEMORY_DONE;
	}
	json_values_end(m);
	m->values = f.values;
	m->frame = f.outer;
	current = outer;
	return m->why;
}

/* The resources are freed here, while the stack that contains some of them
 * still exists. */
_Noreturn void memory_fail(memory_end why)
{
	memory *m = current;
	if (!m)
		abort();
	m->why = why;
	unwind(m, m->frame->serial);
	longjmp(m->frame->back, 1);
}

void memory_poll(void)
{
	if (current && current->stopped &&
	    atomic_load_explicit(current->stopped, memory_order_relaxed))
		memory_fail(MEMORY_STOPPED);
}

void memory_thread(memory *thread, memory *m)
{
	*thread = (memory){ .caller = m, .root = m->root ? m->root : m,
			    .stopped = m->stopped };
}

void memory_thread_end(memory *thread)
{
	memory *m = thread->caller;
	while (thread->items) {
		memory_item *i = thread->items;
		memory_leave(i);
		memory_enter(m, i, i->end);
	}
}

/* ---- bytes -------------------------------------------------------------- */

static bool reserve(memory *m, size_t nbytes)
{
	size_t used = atomic_fetch_add(&m->used, nbytes) + nbytes;
	size_t peak = atomic_load(&m->peak);
	if (used < nbytes || (m->quota && used > m->quota)) {
		atomic_fetch_sub(&m->used, nbytes);
		return false;
	}
	while (peak < used &&
	       !atomic_compare_exchange_weak(&m->peak, &peak, used))
		continue;
	return true;
}

static void *take_from(memory *m, size_t nbytes, bool zero, memory_end *why)
{
	*why = MEMORY_QUOTA;
	if (!reserve(m, nbytes))
		return NULL;
	void *p = m->alloc ? m->alloc(m->user, nbytes) :
		  zero	   ? calloc(1, nbytes) :
			     malloc(nbytes);
	if (p && m->alloc && zero)
		memset(p, 0, nbytes);
	if (!p)
		atomic_fetch_sub(&m->used, nbytes);
	*why = MEMORY_EXHAUSTED;
	return p;
}

void *memory_take(memory *m, size_t nbytes, bool zero)
{
	memory_end why;
	if (!m)
		return zero ? calloc(1, nbytes) : malloc(nbytes);
	memory_poll();
	void *p = take_from(m->root ? m->root : m, nbytes, zero, &why);
	if (!p && current)
		memory_fail(why);
	return p;
}

void memory_give(memory *m, void *p, size_t nbytes)
{
	if (m && m->root)
		m = m->root;
	if (m)
		atomic_fetch_sub(&m->used, nbytes);
	if (m && m->free)
		m->free(m->user, p);
	else
		free(p);
}

/* ---- items -------------------------------------------------------------- */

void memory_enter(memory *m, memory_item *i, void (*end)(memory_item *i))
{
	*i = (memory_item){ .of = m, .end = end };
	if (!m)
		return;
	i->serial = ++m->serial;
	i->older = m->items;
	if (i->older)
		i->older->newer = i;
	m->items = i;
}

void memory_leave(memory_item *i)
{
	if (!i->of)
		return;
	if (i->newer)
		i->newer->older = i->older;
	else
		i->of->items = i->older;
	if (i->older)
		i->older->newer = i->newer;
	i->newer = i->older = NULL;
}

/* ---- malloc() ----------------------------------------------------------- */

typedef struct chunk {
	memory_item item;
	size_t nbytes; /* including this header */
	alignas(max_align_t) unsigned char at[];
} chunk;

static chunk *chunk_of(void *p)
{
	return (chunk *)((unsigned char *)p - offsetof(chunk, at));
}

static void end_chunk(memory_item *i)
{
	memory_give(i->of, i, ((chunk *)i)->nbytes);
}

void *memory_malloc(size_t nbytes)
{
	if (nbytes > SIZE_MAX / 2 && current)
		memory_fail(MEMORY_EXHAUSTED);
	if (nbytes > SIZE_MAX / 2)
		return NULL;
	chunk *c = memory_take(current, sizeof(*c) + nbytes, false);
	if (!c)
		return NULL;
	c->nbytes = sizeof(*c) + nbytes;
	memory_enter(current, &c->item, end_chunk);
	return c->at;
}

void *memory_realloc(void *p, size_t nbytes)
{
	void *to = memory_malloc(nbytes);
	if (!p || !to)
		return to;
	size_t had = chunk_of(p)->nbytes - sizeof(chunk);
	memcpy(to, p, had < nbytes ? had : nbytes);
	memory_free(p);
	return to;
}

void memory_free(void *p)
{
	if (!p)
		return;
	memory_leave(&chunk_of(p)->item);
	end_chunk(&chunk_of(p)->item);
}

/* ---- guards ------------------------------------------------------------- */

static void end_guard(memory_item *i)
{
	memory_guard *g = (memory_guard *)i;
	g->end(g->of);
}

void memory_guard_on(memory_guard *g, void (*end)(void *of), void *of)
{
	g->end = end;
	g->of = of;
	memory_enter(current, &g->item, end_guard);
	g->item.is_guard = true;
}

void memory_guard_off(memory_guard *g)
{
	memory_leave(&g->item);
}
