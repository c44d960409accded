#include "config.h"

#include "runtime/cpu/chunks.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/vec.h"

/* Kernels in a file: at least so many, as headers would take longer to compile
 * than kernels; about so many at most, so that progress is visible. */
enum { LEAST_KERNELS = 4, MANY_KERNELS = 32 };

/* The time to compile a kernel, apart from its text, in bytes of text.
 * SHARED_COST applies if it shares its text with another kernel. */
enum { KERNEL_COST = 500, SHARED_COST = 100 };

/* The definition of a number before a kernel's text. */
static const char definition[] = "#define TDL_NUMBER_";

typedef VEC(char) bytes;

/* Kernels whose texts differ only in these numbers. */
typedef struct unit {
	const char *text; /* text after the numbers */
	VEC(int) kernels;
	size_t cost;
} unit;

typedef VEC(unit *) units;

static const char *next_line(const char *s)
{
	s += strcspn(s, "\n");
	return *s ? s + 1 : s;
}

static bool defines(const char *line)
{
	return !strncmp(line, definition, sizeof(definition) - 1);
}

/* The first definition of a number, or the place for it. */
static const char *numbers_of(const char *text)
{
	return strncmp(text, "/*", 2) ? text : next_line(text);
}

/* The text after the numbers.  Sets *n to how many there are. */
static const char *behind_numbers(const char *text, int *n)
{
	const char *s = numbers_of(text);
	for (*n = 0; defines(s); ++*n)
		s = next_line(s);
	return s;
}

/* Adds a kernel to the unit with its text. */
static void add_kernel(arena *a, strmap *known, units *all, int kernel,
		       const char *text)
{
	int n;
	const char *rest = behind_numbers(text, &n);
	const char *key = arena_printf(a, "%d\n%s", n, rest);
	unit *u = strmap_get(known, key);
	if (!u) {
		u = ARENA_NEW(a, unit);
		*u = (unit){ .text = rest, .cost = strlen(rest) + KERNEL_COST };
		strmap_put(known, key, u);
		vec_push(a, all, u);
	}
	vec_push(a, &u->kernels, kernel);
	u->cost += SHARED_COST;
}

static units find_units(arena *a, int n, const char *const *sources, chunks *x)
{
	strmap *first = strmap_new(a), *known = strmap_new(a);
	units all = { 0 };
	for (int i = 0; i < n; i++) {
		const char *s = sources[i];
		uintptr_t before = s ? (uintptr_t)strmap_get(first, s) : 0;
		x->same[i] = before ? (int)before - 1 : s ? i : -1;
		if (!s || before)
			continue;
		strmap_put(first, s, (void *)((uintptr_t)i + 1));
		add_kernel(a, known, &all, i, s);
		x->nkernels++;
	}
	return all;
}

/* The most expensive unit first; of equal ones the first in the plan. */
static int by_cost(const void *x, const void *y)
{
	const unit *a = *(unit *const *)x, *b = *(unit *const *)y;
	int i = a->kernels.at[0], j = b->kernels.at[0];
	if (a->cost != b->cost)
		return a->cost < b->cost ? 1 : -1;
	return (i > j) - (i < j);
}

/* The number of chunks.  Unless there are few kernels, all processors get
 * equally many. */
static int count_chunks(int nunits, int processors)
{
	int want = (nunits + LEAST_KERNELS - 1) / LEAST_KERNELS;
	int most = processors * MANY_KERNELS;
	int rounds = (nunits + most - 1) / most;
	int n = want < processors ? want : processors * rounds;
	return n > 0 ? n : 1;
}

typedef struct share {
	units units;
	size_t cost;
} share;

/* Gives each unit to the share with the least cost so far.  So the costs of
 * shares differ by at most a unit. */
static void divide(arena *a, const units *all, int n, share *to)
{
	for (int i = 0; i < all->n; i++) {
		share *least = to;
		for (int c = 1; c < n; c++)
			if (to[c].cost < least->cost)
				least = &to[c];
		vec_push(a, &least->units, all->at[i]);
		least->cost += all->at[i]->cost;
	}
}

/* ---- the text of a file ------------------------------------------------ */

static void append(arena *a, bytes *to, const char *s)
{
	for (; *s; s++)
		vec_push(a, to, *s);
}

static void append_kernel(arena *a, bytes *to, char kind, int kernel,
			  const char *text)
{
	append(a, to, arena_printf(a, "\n#define TDL_KERNEL tdl_%c%d\n"
				   "#define TDL_PART(x) tdl_%c%d_##x\n",
				   kind, kernel, kind, kernel));
	append(a, to, text);
	append(a, to, "#undef TDL_KERNEL\n#undef TDL_PART\n");
}

/* Appends the function that calls a shared text with the kernel's numbers. */
static void append_caller(arena *a, bytes *to, const unit *u, int kernel,
			  const char *source)
{
	append(a, to, arena_printf(a, "int tdl_k%d(tdl_args *args)\n{\n"
				   "\tstatic const int64_t numbers[] = { 0",
				   kernel));
	for (const char *s = numbers_of(source); defines(s); s = next_line(s)) {
		const char *value = s + strcspn(s, " ") + 1;
		value += strcspn(value, " ");
		append(a, to, arena_printf(a, ",%.*s",
					   (int)strcspn(value, "\n"), value));
	}
	append(a, to, arena_printf(a, " };\n\targs->numbers = numbers + 1;\n"
				   "\treturn tdl_s%d(args);\n}\n",
				   u->kernels.at[0]));
}

static void append_unit(arena *a, bytes *to, const unit *u,
			const char *const *sources)
{
	int n, first = u->kernels.at[0];
	if (u->kernels.n == 1) {
		append_kernel(a, to, 'k', first, sources[first]);
		return;
	}
	behind_numbers(sources[first], &n);
	append(a, to, "\n");
	for (int i = 0; i < n; i++)
		append(a, to, arena_printf(a, "%s%d (args->numbers[%d])\n",
					   definition, i, i));
	append_kernel(a, to, 's', first, u->text);
	for (int i = 0; i < u->kernels.n; i++)
		append_caller(a, to, u, u->kernels.at[i],
			      sources[u->kernels.at[i]]);
}

static chunk write_chunk(arena *a, const share *s, const char *const *sources)
{
	chunk c = { 0 };
	bytes text = { 0 };
	append(a, &text, "#include \"tdl/kernels.h\"\n");
	for (int i = 0; i < s->units.n; i++) {
		append_unit(a, &text, s->units.at[i], sources);
		c.n += s->units.at[i]->kernels.n;
	}
	vec_push(a, &text, '\0');
	c.text = text.at;
	return c;
}

chunks chunks_of(arena *a, int n, const char *const *sources, int processors)
{
	chunks x = { .same = ARENA_ARRAY(a, int, n) };
	units all = find_units(a, n, sources, &x);
	if (all.n > 0)
		qsort(all.at, (size_t)all.n, sizeof(*all.at), by_cost);
	x.n = count_chunks(all.n, processors);
	x.at = ARENA_ARRAY(a, chunk, x.n);
	share *shares = ARENA_ARRAY(a, share, x.n);
	divide(a, &all, x.n, shares);
	for (int c = 0; c < x.n; c++)
		x.at[c] = write_chunk(a, &shares[c], sources);
	return x;
}
