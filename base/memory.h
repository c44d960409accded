/* The memory of a caller who wants to get it back: an allocator, a quota, and
 * all that was taken and not yet returned.
 *
 * The stages of the compiler allocate from arenas and never look whether there
 * is memory.  A program can live with that: arena_alloc() aborts.  A library
 * cannot, so each of its functions runs as the body of memory_call().  While it
 * runs, its memory is current for the thread: arenas that are made take their
 * blocks from it.  When there is no more, or the caller asks to stop, all that
 * was taken since the call began is given back, newest first, and memory_call()
 * returns why.  Nothing between the two has to know.
 *
 * The alternative, a status that 3,000 callers of arena_alloc() test and pass
 * on, would be as large as the rest of the compiler, and a path that is
 * forgotten would be found by nobody.  The price: what a function holds besides
 * arenas (a file, a mapping, memory of malloc()) has to be registered while it
 * allocates, with a memory_guard on its own stack, or be made by
 * memory_malloc(); JSON values are, by base/json.h.  tests/unit/test_library
 * lets each allocation fail, one after the other, and a leak is a fault.
 *
 * Where no memory is current, in programs, all of this does nothing. */
#ifndef TDL_BASE_MEMORY_H
#define TDL_BASE_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Something that was taken; in a list, the newest first. */
typedef struct memory_item {
	struct memory_item *newer, *older;
	struct memory *of;
	uint64_t serial;
	bool is_guard; /* ends before those that are none: it may need them */
	void (*end)(struct memory_item *i); /* gives it back */
} memory_item;

typedef enum memory_end {
	MEMORY_DONE,
	MEMORY_EXHAUSTED, /* the allocator has no more */
	MEMORY_QUOTA,	  /* it would be more than the quota */
	MEMORY_STOPPED,	  /* the caller asked for it */
	MEMORY_JSON,	  /* no JSON value could be made of something */
} memory_end;

typedef struct memory {
	/* Both NULL: those of C.  Called by several threads at once where
	 * memory_thread() is used. */
	void *(*alloc)(void *user, size_t nbytes);
	void (*free)(void *user, void *p);
	void *user;
	size_t quota;		    /* bytes in use at one time; 0: any */
	atomic_size_t used, peak;   /* bytes */
	const atomic_bool *stopped; /* the caller asks to stop; NULL: never */
	/* Of a thread that works for a call: the memory of that call, and the
	 * one whose allocator and quota both use. */
	struct memory *caller, *root;
	memory_item *items;
	uint64_t serial;
	struct memory_frame *frame; /* the innermost call, .. */
	memory_end why;		    /* .. and the reason why it ended */
	struct json_values *values; /* base/json.c's */
} memory;

/* Runs body(arg) with m as the current memory of this thread.  Unless it
 * returns MEMORY_DONE the body was left in the middle, and all that it had
 * taken from m was given back.  Calls may be nested, of one memory or of
 * several.  The stack frames between are not unwound: no lock may be held, and
 * no local variable be used, over an allocation, that an early end would leave
 * wrong. */
memory_end memory_call(memory *m, void (*body)(void *arg), void *arg);

/* The current memory of this thread; NULL. */
memory *memory_current(void);

/* Ends the innermost call.  Only with a current memory. */
_Noreturn void memory_fail(memory_end why);

/* Ends it if its caller has asked to stop. */
void memory_poll(void);

/* A memory for another thread that works for a call of m: it takes from m's
 * allocator and quota.  What its own calls leave is m's after
 * memory_thread_end(), which the thread of m calls. */
void memory_thread(memory *thread, memory *m);
void memory_thread_end(memory *thread);

/* ---- taking and giving back -------------------------------------------- */

/* nbytes from m, or from C where m is NULL; zero if asked for.  On failure ends
 * the call, or returns NULL outside of one. */
void *memory_take(memory *m, size_t nbytes, bool zero);
void memory_give(memory *m, void *p, size_t nbytes);

/* Enters an item in the list of m, which may be NULL, and takes it out. */
void memory_enter(memory *m, memory_item *i, void (*end)(memory_item *i));
void memory_leave(memory_item *i);

/* malloc(), realloc() and free() that are given back when the current call
 * fails; NULL only where none is current. */
void *memory_malloc(size_t nbytes);
void *memory_realloc(void *p, size_t nbytes);
void memory_free(void *p);

/* A resource of a function, given back when a call fails in between, while the
 * arenas of the call are still there; end() must not allocate:
 *
 *	memory_guard g;
 *	memory_guard_on(&g, close_file, &f);
 *	..
 *	memory_guard_off(&g);
 *
 * g is on the stack of the function, which calls memory_guard_off() on every
 * path out of it. */
typedef struct memory_guard {
	memory_item item;
	void (*end)(void *of);
	void *of;
} memory_guard;

void memory_guard_on(memory_guard *g, void (*end)(void *of), void *of);
void memory_guard_off(memory_guard *g);

#endif
