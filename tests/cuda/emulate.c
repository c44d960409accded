/* Runs the blocks of a kernel that emulate.h made compile on the host: linked
 * into each text's library by emulate.sh, which exports what is without
 * `hidden` below.
 *
 * The threads of a block are fibers.  One runs to its end, or to a barrier or
 * an exchange within a warp, where it waits until all that are to come are
 * there.  Found, where a GPU would hang, or do what is not defined:
 * - threads that wait at different barriers, or have left the block while
 *   others wait at one;
 * - exchanges for whose mask no lanes come, or come to another exchange, or
 *   that a lane is in whose bit the mask lacks;
 * - addresses that are not multiples of the size of what is read there, or
 *   where there is no memory, and traps;
 * - shared memory read before it is written: it is filled with 0xcb, and so is
 *   what is copied there until its thread has waited for the copy and come to
 *   a barrier after that;
 * - copies that a thread has not waited for when it ends; one to where another
 *   is under way, and a matrix that is loaded from there; either of what does
 *   not lie at a multiple of 16, and outside of shared memory.
 *
 * Blocks, and the threads of a block, run in an order that EMULATE_SEED
 * shuffles, where it is set and not 0: what depends on it is wrong. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HIDDEN __attribute__((visibility("hidden")))
#define EXPORT __attribute__((visibility("default")))

enum {
	MAX_THREADS = 1024,
	LANES = 32,
	STACK = 128 << 10,
	MAX_SHARED = 227 << 10,
	POISON = 0xcb,
};

typedef struct uint3 {
	unsigned x, y, z;
} uint3;

typedef struct emu_kernel { /* as in emulate.h */
	const char *name;
	int nparams;
	const size_t *sizes;
	void (*call)(void **params);
} emu_kernel;

typedef enum state {
	NOT_STARTED,
	RUNS,
	AT_BARRIER,
	IN_EXCHANGE,
	DONE,
} state;

typedef struct thread {
	state state;
	int line; /* the line where it waits */
	void *stack_pointer;
	uint3 index;
	/* of an exchange */
	unsigned mask;
	int from;
	unsigned long long value;
} thread;

/* The table that emulate.sh appends to the text. */
extern const emu_kernel emu_table[] HIDDEN;

/* Static shared memory, if there is any. */
extern unsigned char __start_emu_shared[] HIDDEN __attribute__((weak));
extern unsigned char __stop_emu_shared[] HIDDEN __attribute__((weak));

HIDDEN uint3 threadIdx, blockIdx, blockDim, gridDim;
HIDDEN unsigned char emu_dynamic[MAX_SHARED] __attribute__((aligned(128)));

static pthread_mutex_t one_launch = PTHREAD_MUTEX_INITIALIZER;
static char message[400];
static sigjmp_buf failed;

/* The block that runs. */
static const emu_kernel *kernel;
static void **params;
static int nthreads, started, live, at_barrier, predicates;
static int order[MAX_THREADS];	   /* in which threads start */
static thread threads[MAX_THREADS];
static int running;		   /* the thread */
static int ready[MAX_THREADS], nready;
static int barrier_line, barrier_count;

static unsigned char *stacks;
static int free_stacks[MAX_THREADS], nfree;
static void *scheduler; /* its stack pointer */

static _Noreturn void fail(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));

static _Noreturn void fail(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(message, sizeof message, fmt, ap);
	va_end(ap);
	siglongjmp(failed, 1);
}

#include "emulate_copies.h"

/* ---- fibers -------------------------------------------------------------- */

#if !defined __x86_64__
#error "switching between stacks is written for x86-64"
#endif

/* Saves where the caller is, and goes on where another had saved that. */
void emu_switch(void **save, void *to) HIDDEN;
__asm__(".text\n"
	".hidden emu_switch\n"
	".globl emu_switch\n"
	".type emu_switch, @function\n"
	"emu_switch:\n"
	"	pushq %rbp\n"
	"	pushq %rbx\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbx\n"
	"	popq %rbp\n"
	"	ret\n"
	".size emu_switch, . - emu_switch\n");

static unsigned char *stack_of(int i)
{
	return stacks + (size_t)i * STACK;
}

/* A fiber: runs threads that have not started, until none is left.  One that
 * waits keeps the fiber. */
static void fiber(int stack)
{
	while (started < nthreads) {
		const int me = order[started++];
		running = me;
		threads[me].state = RUNS;
		threadIdx = threads[me].index;
		kernel->call(params);
		if (copied[running].nwaited < copied[running].n)
			fail("thread %d ends before its copies", running);
		threads[running].state = DONE;
		live--;
		/* It may have waited, and others have started meanwhile. */
	}
	if (stack_of(stack)[0] != POISON)
		fail("a thread's stack of %d KiB is too small", STACK >> 10);
	free_stacks[nfree++] = stack;
	void *nowhere;
	emu_switch(&nowhere, scheduler);
	__builtin_unreachable();
}

static int new_stack;

static void fiber_entry(void)
{
	fiber(new_stack);
}

static void start_fiber(void)
{
	const int i = free_stacks[--nfree];
	stack_of(i)[0] = POISON;
	void **top = (void **)(stack_of(i) + STACK);
	*--top = NULL; /* the stack is aligned as after a call */
	*--top = (void *)fiber_entry;
	top -= 6;
	memset(top, 0, 6 * sizeof *top);
	new_stack = i;
	emu_switch(&scheduler, top);
}

/* The thread that runs waits, until it is made ready. */
static void wait_as(state s, int line)
{
	thread *t = &threads[running];
	t->state = s;
	t->line = line;
	const int me = running;
	emu_switch(&t->stack_pointer, scheduler);
	running = me;
	t->state = RUNS;
	threadIdx = t->index;
}

static void make_ready(int i)
{
	threads[i].state = RUNS;
	ready[nready++] = i;
}

/* ---- barriers and exchanges ---------------------------------------------- */

static void release_barrier(void)
{
	barrier_count = predicates;
	predicates = at_barrier = 0;
	for (int k = 0; k < nthreads; k++)
		if (threads[order[k]].state == AT_BARRIER)
			make_ready(order[k]);
}

HIDDEN int emu_barrier(int line, int predicate)
{
	if (at_barrier == 0)
		barrier_line = line;
	else if (barrier_line != line)
		fail("thread %d waits at the barrier of line %d, others at "
		     "that of line %d",
		     running, line, barrier_line);
	end_copies(&copied[running]);
	predicates += predicate;
	if (++at_barrier == nthreads)
		release_barrier();
	else
		wait_as(AT_BARRIER, line);
	return barrier_count;
}

/* Whether all lanes of a mask are in the exchange; those that have left the
 * block need not come. */
static bool complete(int warp, unsigned mask, int line)
{
	for (int i = 0; i < LANES; i++) {
		if (!(mask >> i & 1) || warp + i >= nthreads)
			continue;
		const thread *t = &threads[warp + i];
		if (t->state == DONE)
			continue;
		if (t->state != IN_EXCHANGE)
			return false;
		if (t->mask != mask || t->line != line)
			fail("threads %d and %d are in different exchanges, "
			     "of lines %d and %d, masks %08x and %08x",
			     running, warp + i, line, t->line, mask, t->mask);
	}
	return true;
}

/* Gives each lane its value. */
static void exchange(int warp, unsigned mask)
{
	unsigned long long given[LANES], ballot = 0;
	for (int i = 0; i < LANES; i++) {
		if (!(mask >> i & 1) || warp + i >= nthreads ||
		    threads[warp + i].state != IN_EXCHANGE) {
			memset(&given[i], POISON, sizeof given[i]);
			continue;
		}
		given[i] = threads[warp + i].value;
		ballot |= (unsigned long long)(given[i] != 0) << i;
	}
	for (int i = 0; i < LANES; i++) {
		thread *t = &threads[warp + i];
		if (!(mask >> i & 1) || warp + i >= nthreads ||
		    t->state != IN_EXCHANGE)
			continue;
		t->value = t->from < 0 ? ballot : given[t->from & (LANES - 1)];
		if (warp + i != running)
			make_ready(warp + i);
	}
}

HIDDEN unsigned long long emu_exchange(int line, unsigned mask, int from,
				       unsigned long long value)
{
	thread *t = &threads[running];
	const int warp = running & ~(LANES - 1);
	if (!(mask >> (running - warp) & 1))
		fail("thread %d is in the exchange of line %d, which its mask "
		     "%08x does not name",
		     running, line, mask);
	t->mask = mask;
	t->from = from;
	t->value = value;
	t->line = line;
	t->state = IN_EXCHANGE;
	if (complete(warp, mask, line))
		exchange(warp, mask);
	else
		wait_as(IN_EXCHANGE, line);
	t->state = RUNS;
	return t->value;
}

HIDDEN _Noreturn void emu_trap(int line, const char *why)
{
	fail("%s at line %d", why, line);
}

/* ---- blocks -------------------------------------------------------------- */

/* None can go on. */
static _Noreturn void fail_stuck(void)
{
	for (int i = 0; i < nthreads; i++) {
		const thread *t = &threads[i];
		if (t->state == IN_EXCHANGE)
			fail("thread %d waits in the exchange of line %d, "
			     "mask %08x, to which not all lanes come",
			     i, t->line, t->mask);
	}
	fail("%d of %d threads wait at the barrier of line %d, the others "
	     "have left",
	     at_barrier, nthreads, barrier_line);
}

/* Lanes that waited only for one that has left can go on. */
static void release_exchanges(void)
{
	for (int i = 0; i < nthreads; i++) {
		const thread *t = &threads[i];
		if (t->state != IN_EXCHANGE)
			continue;
		running = i;
		const int warp = i & ~(LANES - 1);
		if (!complete(warp, t->mask, t->line))
			continue;
		exchange(warp, t->mask);
		make_ready(i);
	}
}

static void run_block(size_t shared)
{
	if (__start_emu_shared)
		memset(__start_emu_shared, POISON,
		       (size_t)(__stop_emu_shared - __start_emu_shared));
	memset(emu_dynamic, POISON, shared);
	memset(under_way, 0, nunits());
	started = at_barrier = predicates = nready = 0;
	for (int i = 0; i < nthreads; i++) {
		threads[i].state = NOT_STARTED;
		copied[i].n = copied[i].ngrouped = copied[i].nwaited = 0;
	}
	live = nthreads;
	while (live > 0) {
		if (nready > 0) {
			const int next = ready[--nready];
			emu_switch(&scheduler, threads[next].stack_pointer);
		} else if (started < nthreads) {
			start_fiber();
		} else {
			release_exchanges();
			if (nready == 0)
				fail_stuck();
		}
	}
}

static uint64_t next_random(uint64_t *s)
{
	*s = *s * 6364136223846793005u + 1442695040888963407u;
	return *s >> 33;
}

static void shuffle(int *x, int n, uint64_t *random)
{
	for (int i = 0; i < n; i++)
		x[i] = i;
	if (*random == 0)
		return;
	for (int i = n - 1; i > 0; i--) {
		const int j = (int)(next_random(random) % (unsigned)(i + 1));
		const int y = x[i];
		x[i] = x[j];
		x[j] = y;
	}
}

/* Block `i` of a grid whose blocks are in the order i * step + first. */
static void run_grid(size_t shared, uint64_t random)
{
	const uint64_t n = (uint64_t)gridDim.x * gridDim.y * gridDim.z;
	const uint64_t first = random ? next_random(&random) % n : 0;
	const bool down = random && next_random(&random) % 2;
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t j = ((down ? n - 1 - i : i) + first) % n;
		blockIdx.x = (unsigned)(j % gridDim.x);
		blockIdx.y = (unsigned)(j / gridDim.x % gridDim.y);
		blockIdx.z = (unsigned)(j / gridDim.x / gridDim.y);
		run_block(shared);
	}
}

static void prepare(uint64_t *random)
{
	if (!stacks) {
		stacks = mmap(NULL, (size_t)STACK * MAX_THREADS,
			      PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			      0);
		if (stacks == MAP_FAILED) {
			stacks = NULL;
			fail("no memory for stacks");
		}
	}
	if (!under_way)
		under_way = malloc(nunits());
	if (!under_way)
		fail("no memory");
	nfree = MAX_THREADS;
	for (int i = 0; i < MAX_THREADS; i++)
		free_stacks[i] = MAX_THREADS - 1 - i;
	for (int i = 0; i < nthreads; i++) {
		threads[i].state = NOT_STARTED;
		threads[i].index = (uint3){
			(unsigned)i % blockDim.x,
			(unsigned)i / blockDim.x % blockDim.y,
			(unsigned)i / blockDim.x / blockDim.y};
	}
	shuffle(order, nthreads, random);
}

/* ---- faults -------------------------------------------------------------- */

static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
enum {
	NSIGNALS = sizeof signals / sizeof signals[0],
};
static struct sigaction before[NSIGNALS];
static pthread_t runner;

static void on_fault(int signal, siginfo_t *info, void *context)
{
	(void)context;
	if (!pthread_equal(pthread_self(), runner)) {
		/* Not the kernel's: it comes again when this returns. */
		for (int i = 0; i < NSIGNALS; i++)
			sigaction(signals[i], &before[i], NULL);
		return;
	}
	const char *what = signal == SIGILL   ? "a misaligned address"
			   : signal == SIGFPE ? "a division by zero"
					      : "an illegal address";
	fail("%s: %s, %p, in block (%u, %u, %u), thread (%u, %u, %u)",
	     kernel->name, what, signal == SIGILL ? NULL : info->si_addr,
	     blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y,
	     threadIdx.z);
}

/* Faults may come where a fiber's stack has no room for their handler. */
static void catch_faults(stack_t *other)
{
	static unsigned char stack[64 << 10];
	const stack_t ours = {.ss_sp = stack, .ss_size = sizeof stack};
	struct sigaction a = {.sa_sigaction = on_fault,
			      .sa_flags = SA_SIGINFO | SA_ONSTACK};
	runner = pthread_self();
	sigaltstack(&ours, other);
	for (int i = 0; i < NSIGNALS; i++)
		sigaction(signals[i], &a, &before[i]);
}

static void release_faults(const stack_t *other)
{
	for (int i = 0; i < NSIGNALS; i++)
		sigaction(signals[i], &before[i], NULL);
	sigaltstack(other, NULL);
}

/* ---- what a library of kernels exports ----------------------------------- */

/* The kernels of the text; the last row's name is NULL. */
EXPORT const emu_kernel *emu_kernels(void)
{
	return emu_table;
}

/* Runs a kernel: grid and block as blockIdx and blockDim have them, bytes of
 * dynamic shared memory, addresses of the parameters.  NULL, or what was wrong.
 * May be called by several threads of the host, one after the other. */
EXPORT const char *emu_launch(const emu_kernel *k, const unsigned grid[3],
			      const unsigned block[3], size_t shared, void **p)
{
	const uint64_t n = (uint64_t)block[0] * block[1] * block[2];
	if (n < 1 || n > MAX_THREADS || shared > MAX_SHARED ||
	    grid[0] < 1 || grid[1] < 1 || grid[2] < 1)
		return "an impossible grid or block";
	const char *seed = getenv("EMULATE_SEED");
	uint64_t random = seed ? strtoull(seed, NULL, 10) : 0;
	pthread_mutex_lock(&one_launch);
	message[0] = '\0';
	kernel = k;
	params = p;
	nthreads = (int)n;
	gridDim = (uint3){grid[0], grid[1], grid[2]};
	blockDim = (uint3){block[0], block[1], block[2]};
	stack_t other;
	catch_faults(&other);
	if (sigsetjmp(failed, 1) == 0) {
		prepare(&random);
		run_grid(shared, random);
	}
	release_faults(&other);
	pthread_mutex_unlock(&one_launch);
	return message[0] ? message : NULL;
}

/* The same by a kernel's name, for tests that have a library alone. */
EXPORT const char *emu_run(const char *name, const unsigned grid[3],
			   const unsigned block[3], size_t shared, void **p)
{
	for (const emu_kernel *k = emu_table; k->name; k++)
		if (!strcmp(k->name, name))
			return emu_launch(k, grid, block, shared, p);
	return "there is no kernel of that name";
}
