/* Copies to shared memory that go on beside the threads; a part of
 * tests/cuda/emulate.c. */
#ifndef TDL_TESTS_CUDA_EMULATE_COPIES_H
#define TDL_TESTS_CUDA_EMULATE_COPIES_H

/* A copy to shared memory that goes on beside the thread. */
typedef struct copy {
	unsigned char *to;
	const unsigned char *from;
} copy;

enum { COPIES = 32, COPIED = 16 };

/* Copies of a thread: of groups that it has waited for, of groups, all. */
typedef struct copies {
	int nwaited, ngrouped, n;
	copy of[COPIES];
} copies;

static copies copied[MAX_THREADS];
static bool *under_way; /* a copy to these 16 bytes of shared memory */

static size_t nunits(void)
{
	return (size_t)(MAX_SHARED + (__stop_emu_shared - __start_emu_shared)) /
		       COPIED +
	       1;
}

/* The place of 16 bytes of shared memory among all of them; -1 for what is no
 * shared memory. */
static ptrdiff_t unit_of(const void *p)
{
	const uintptr_t at = (uintptr_t)p;
	const uintptr_t beg = (uintptr_t)__start_emu_shared;
	const uintptr_t end = (uintptr_t)__stop_emu_shared;
	if (at - (uintptr_t)emu_dynamic < MAX_SHARED)
		return (ptrdiff_t)(at - (uintptr_t)emu_dynamic) / COPIED;
	return at >= beg && at < end
		       ? (ptrdiff_t)(MAX_SHARED + at - beg) / COPIED
		       : -1;
}

static void check_shared(int line, const void *p, const char *what)
{
	if ((uintptr_t)p % COPIED)
		fail("%s at line %d is at no multiple of 16", what, line);
	if (unit_of(p) < 0)
		fail("%s at line %d is not in shared memory", what, line);
	if (under_way[unit_of(p)])
		fail("%s at line %d is where a copy is under way", what, line);
}

HIDDEN void emu_row(int line, const void *row)
{
	check_shared(line, row, "a row that is loaded");
}

HIDDEN void emu_copy(int line, void *to, const void *from)
{
	copies *c = &copied[running];
	check_shared(line, to, "a copy");
	if ((uintptr_t)from % COPIED)
		fail("a copy of line %d is misaligned", line);
	if (c->n == COPIES)
		fail("a copy too many at line %d", line);
	memset(to, POISON, COPIED);
	under_way[unit_of(to)] = true;
	c->of[c->n++] = (copy){to, from};
}

HIDDEN void emu_group(void)
{
	copied[running].ngrouped = copied[running].n;
}

HIDDEN void emu_wait(void)
{
	copied[running].nwaited = copied[running].ngrouped;
}

/* At a barrier.  The thread itself could see them before. */
static void end_copies(copies *c)
{
	const int left = c->n - c->nwaited;
	for (int i = 0; i < c->nwaited; i++) {
		const copy *x = &c->of[i];
		memcpy(x->to, x->from, COPIED);
		under_way[unit_of(x->to)] = false;
	}
	memmove(c->of, c->of + c->nwaited, (size_t)left * sizeof c->of[0]);
	c->ngrouped -= c->nwaited;
	c->n = left;
	c->nwaited = 0;
}

#endif
