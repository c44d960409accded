/* Fuzz target: strategy problems in the WCSP format, and the solver. */
#include "config.h"

#include <string.h>

#include "compiler/solver/solve.h"
#include "compiler/solver/wcsp.h"
#include "tests/fuzz/fuzz.h"

enum { MAX_ASSIGNMENTS = 2000 };

/* The next assignment in the order of an odometer; false behind the last. */
static bool advance(const problem *p, int *value)
{
	for (int v = 0; v < p->vars.n; v++) {
		if (++value[v] < p->vars.at[v].nvalues)
			return true;
		value[v] = 0;
	}
	return false;
}

/* The cost of the best assignment, by enumeration; -1 for too many. */
static int64_t try_all(arena *a, const problem *p)
{
	int64_t n = 1, best = COST_MAX;
	int *value = ARENA_ARRAY(a, int, p->vars.n);
	for (int v = 0; v < p->vars.n && n <= MAX_ASSIGNMENTS; v++)
		n *= p->vars.at[v].nvalues;
	if (n > MAX_ASSIGNMENTS)
		return -1;
	do {
		int64_t cost = problem_cost(p, value);
		best = cost < best ? cost : best;
	} while (advance(p, value));
	return best;
}

static void check_solution(arena *a, const problem *p, const solution *s)
{
	int64_t best = try_all(a, p);
	if (s->cost < p->top) {
		FUZZ_CHECK(s->cost == problem_cost(p, s->value));
		FUZZ_CHECK(s->lower_bound <= s->cost);
	}
	FUZZ_CHECK(!s->optimal || s->lower_bound >= s->cost ||
		   s->cost >= p->top);
	if (best < 0)
		return;
	FUZZ_CHECK(s->lower_bound <= best || best >= p->top);
	if (s->optimal && best < p->top)
		FUZZ_CHECK(s->cost == best);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const solve_limits limits = { .cells = 1 << 16, .work = 1 << 20,
				      .steps = 1 << 16, .seconds = 0.5 };
	arena *a = arena_new();
	diag_sink *s = diag_sink_new(a);
	const char *text = arena_strndup(a, (const char *)data, size);
	problem *p = wcsp_parse(a, s, "fuzz.wcsp", text, size);
	fuzz_print(s);
	FUZZ_CHECK(!p == (diag_errors(s) > 0));
	if (p) {
		solution found = solve(a, p, &limits);
		check_solution(a, p, &found);
	}
	arena_free(a);
	return 0;
}
