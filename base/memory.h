/* Memory that a caller gets back: an allocator, a quota, and a list of all that
 * was taken and not yet returned.
 *
 * The stages of the compiler allocate from arenas and never check for lack of
 * memory.  A program can live with that: arena_alloc() aborts.  A library
 * cannot, so each of its functions runs as the body of a memory_call().  During
 * the call its memory is current for the thread: new arenas take their blocks
 * from it.  If memory runs out, or the caller asks to stop, everything taken
 * since the call began is given back, newest first, and memory_call() returns
 * the reason.  The code in between need not know.
 *
 * The alternative, a status that 3,000 callers of arena_alloc() test and pass
 * on, would be as large as the rest of the compiler, and nothing would find a
 * forgotten path.  The price: whatever a function holds besides arenas (a file,
 * a mapping, memory of malloc()) must be registered while it allocates, by a
 * memory_guard on its own stack, or come from memory_malloc().  JSON values are
 * registered by base/json.h. tests/unit/test_library lets each allocation fail,
 * one after the other, and treats a leak as a fault.
 *
 * Where no memory is current, as in programs, all of this does nothing. */
#ifndef TDL_BASE_MEMORY_H
#define TDL_BASE_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Something that was taken, to be given back; lists have the newest first. */
typedef struct memory_item {
	struct memory_item *newer, *older;
	struct memory *of;
	uint64_t serial;
	bool is_guard; /* guards end before other items, which they may need */
	void (*end)(struct memory_item *i); /* gives it back */
} memory_item;

typedef enum memory_end {
	MEMORY_DONE,
	MEMORY_EXHAUSTED, /* the allocator has no more */
	MEMORY_QUOTA,	  /* the quota would be exceeded */
	MEMORY_STOPPED,	  /* the caller asked to stop */
	MEMORY_JSON,	  /* a JSON value could not be made */
} memory_end;

typedef struct memory {
	/* Both NULL: malloc() and free().  If memory_thread() is used, several
	 * threads call them at once. */
	void *(*alloc)(void *user, size_t nbytes);
	void (*free)(void *user, void *p);
	void *user;
	size_t quota;		    /* bytes in use at one time; 0: any */
	atomic_size_t used, peak;   /* bytes */
	/* set when the caller asks to stop; NULL: never */
	const atomic_bool *stopped;
	/* For the memory of a thread that works for a call: the memory of that
	 * call, and the one whose allocator and quota both use. */
	struct memory *caller, *root;
	memory_item *items;
	uint64_t serial;
	struct memory_frame *frame; /* the innermost call .. */
	memory_end why;		    /* .. and why it ended */
	struct json_values *values; /* owned by base/json.c */
} memory;

/* Runs body(arg) with m as the current memory of this thread.  If the result is
 * not MEMORY_DONE, the body was left in the middle and everything it had taken
 * from m was given back.  Calls may nest, on one memory or on several.  An
 * early end does not unwind the stack frames in between: across an allocation,
 * hold no lock, and keep no state in local variables that would be wrong
 * afterwards. */
memory_end memory_call(memory *m, void (*body)(void *arg), void *arg);

/* The current memory of this thread; NULL if there is none. */
memory *memory_current(void);

/* Ends the innermost call.  A memory must be current. */
_Noreturn void memory_fail(memory_end why);

/* Ends the innermost call if its caller has asked to stop. */
void memory_poll(void);

/* Initializes a memory for another thread that works for a call of m.  It draws
 * on m's allocator and quota.  The thread of m calls memory_thread_end(), which
 * hands what the other thread's calls have left to m. */
void memory_thread(memory *thread, memory *m);
void memory_thread_end(memory *thread);

/* ---- taking and giving back -------------------------------------------- */

/* Returns nbytes from m, or from malloc() if m is NULL; zeroed if asked.  On
 * failure ends the running call, or returns NULL outside of one. */
void *memory_take(memory *m, size_t nbytes, bool zero);
void memory_give(memory *m, void *p, size_t nbytes);

/* Enters an item in the list of m, which may be NULL; removes it. */
void memory_enter(memory *m, memory_item *i, void (*end)(memory_item *i));
void memory_leave(memory_item *i);

/* malloc(), realloc() and free() for memory that is given back if the current
 * call fails.  They return NULL only if no memory is current. */
void *memory_malloc(size_t nbytes);
void *memory_realloc(void *p, size_t nbytes);
void memory_free(void *p);

/* A guard for a resource of a function: if the call fails while the guard is
 * on, end(of) gives the resource back.  The arenas of the call still exist
 * then; end() must not allocate.
 *
 *	memory_guard g;
 *	memory_guard_on(&g, close_file, &f);
 *	..
 *	memory_guard_off(&g);
 *
 * The guard is on the function's stack; the function calls memory_guard_off()
 * on every path out of it. */
typedef struct memory_guard {
	memory_item item;
	void (*end)(void *of);
	void *of;
} memory_guard;

void memory_guard_on(memory_guard *g, void (*end)(void *of), void *of);
void memory_guard_off(memory_guard *g);

#endif
