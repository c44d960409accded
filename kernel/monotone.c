#include "config.h"

#include "kernel/monotone.h"

#include "kernel/abstract.h"
#include "kernel/eval.h"

/* The choice by which values combine whose parts combine by r; -1 for other
 * reducers. */
static int choice_of(reducer r)
{
	fn_choice c = reducer_choice(r);
	return c == FN_GREATEST ? BY_MAX : c == FN_LEAST ? BY_MIN : -1;
}

/* Whether the elements of all these inputs can be combined by a reducer. */
static bool combine_by(const kernel *k, uint32_t inputs, reducer by)
{
	for (; inputs; inputs &= inputs - 1) {
		dtype t = k->inputs[__builtin_ctz(inputs)].type;
		if (reducer_is_logic(by) != (t == DT_BOOL) ||
		    (by == RED_SUM && !elem_has_zero(t)))
			return false;
	}
	return true;
}

static bool adds(const kernel *k)
{
	return (k->reducer == RED_NONE || k->reducer == RED_SUM) &&
	       elem_has_zero(k->type);
}

/* For inputs that `by' can combine. */
static bool passes(const kernel *k, const dependence *on, reducer by,
		   reducer to)
{
	int from = choice_of(by), choice = choice_of(to);
	if (by == RED_SUM && to == RED_SUM)
		return adds(k) && on->linear >> SLOT_INPUT & 1;
	if (from < 0 || choice < 0 ||
	    reducer_is_logic(to) != (k->type == DT_BOOL))
		return false;
	return on->monotone[from][choice] >> SLOT_INPUT & 1 &&
	       (k->reducer == RED_NONE || k->reducer == to);
}

bool kernel_passes_partial(const kernel *k, uint32_t inputs, reducer by,
			   reducer to)
{
	if (!k->body || !combine_by(k, inputs, by))
		return false;
	dependence on = kernel_dependence(k, inputs);
	return passes(k, &on, by, to);
}

/* The first reducer that combines the results; RED_NONE. */
static reducer passed_to(const kernel *k, const dependence *on, reducer by)
{
	for (int to = RED_NONE + 1; to < RED_COUNT; to++)
		if (passes(k, on, by, (reducer)to))
			return (reducer)to;
	return RED_NONE;
}

reducer kernel_passes(const kernel *k, uint32_t inputs, reducer by)
{
	if (!k->body || !combine_by(k, inputs, by))
		return RED_NONE;
	dependence on = kernel_dependence(k, inputs);
	return on.uses >> SLOT_INPUT & 1 ? passed_to(k, &on, by) : RED_NONE;
}

reducer kernel_commutes_with(const kernel *k, int input, reducer r)
{
	return kernel_passes(k, UINT32_C(1) << input, r);
}

/* ---- all of them ------------------------------------------------------- */

/* The most inputs of which all subsets are tried; of more, single inputs, pairs
 * and all together. */
enum { MOST_SUBSETS = 6 };

static bool is_tried(const kernel *k, uint32_t inputs)
{
	int n = __builtin_popcount(inputs);
	return k->ninputs <= MOST_SUBSETS || n <= 2 || n == k->ninputs;
}

/* The next greater number with as many bits as x (Gosper); after the last, a
 * number greater than any set. */
static uint32_t next_of_size(uint32_t x)
{
	uint32_t low = x & -x, carried = x + low;
	return carried | (((x ^ carried) >> 2) / low);
}

/* Adds the passings of a set of inputs. */
static void add_passings(const kernel *k, uint32_t inputs, kpassing *to, int *n)
{
	static const reducer all[] = { RED_SUM, RED_MAX, RED_MIN, RED_OR,
				       RED_AND };
	dependence on = kernel_dependence(k, inputs);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		reducer r = combine_by(k, inputs, all[i])
				    ? passed_to(k, &on, all[i]) : RED_NONE;
		if (r != RED_NONE && *n < MAX_PASSINGS)
			to[(*n)++] = (kpassing){ inputs, all[i], r };
	}
}

int kernel_passings(const kernel *k, kpassing *to)
{
	int n = 0;
	uint32_t end = UINT32_C(1) << k->ninputs;
	for (int size = 1; k->body && size <= k->ninputs; size++) {
		uint32_t x = (UINT32_C(1) << size) - 1;
		if (!is_tried(k, x))
			continue;
		for (; x < end; x = next_of_size(x))
			add_passings(k, x, to, &n);
	}
	return n;
}
