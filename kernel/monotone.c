#include "config.h"

#include "kernel/monotone.h"

#include "kernel/abstract.h"
#include "kernel/eval.h"

/* The choice by which values combine whose parts combine by r; -1 for another
 * reducer. */
static int choice_of(reducer r)
{
	fn_choice c = reducer_choice(r);
	return c == FN_GREATEST ? BY_MAX : c == FN_LEAST ? BY_MIN : -1;
}

static bool adds(const kernel *k, int input)
{
	return (k->reducer == RED_NONE || k->reducer == RED_SUM) &&
	       elem_has_zero(k->type) && elem_has_zero(k->inputs[input].type);
}

static bool passes(const kernel *k, int input, const dependence *on, reducer by,
		   reducer to)
{
	int from = choice_of(by), choice = choice_of(to);
	if (by == RED_SUM && to == RED_SUM)
		return adds(k, input) && on->linear >> SLOT_INPUT & 1;
	if (from < 0 || choice < 0 ||
	    reducer_is_logic(to) != (k->type == DT_BOOL))
		return false;
	return on->monotone[from][choice] >> SLOT_INPUT & 1 &&
	       (k->reducer == RED_NONE || k->reducer == to);
}

static bool is_asked(const kernel *k, int input, reducer by)
{
	bool logic = k->inputs[input].type == DT_BOOL;
	return k->body && reducer_is_logic(by) == logic;
}

bool kernel_passes_partial(const kernel *k, int input, reducer by, reducer to)
{
	if (!is_asked(k, input, by))
		return false;
	dependence on = kernel_dependence(k, input);
	return passes(k, input, &on, by, to);
}

reducer kernel_commutes_with(const kernel *k, int input, reducer r)
{
	if (!is_asked(k, input, r))
		return RED_NONE;
	dependence on = kernel_dependence(k, input);
	for (int to = RED_NONE + 1; to < RED_COUNT; to++)
		if (passes(k, input, &on, r, (reducer)to))
			return (reducer)to;
	return RED_NONE;
}
