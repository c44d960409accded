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

static reducer reducer_for(const kernel *k, int choice)
{
	return reducer_of_choice(choice == BY_MAX ? FN_GREATEST : FN_LEAST,
				 k->type == DT_BOOL);
}

static bool adds(const kernel *k, int input)
{
	return (k->reducer == RED_NONE || k->reducer == RED_SUM) &&
	       elem_has_zero(k->type) && elem_has_zero(k->inputs[input].type);
}

/* An input that is not read passes nothing. */
reducer kernel_commutes_with(const kernel *k, int input, reducer r)
{
	bool logic = k->inputs[input].type == DT_BOOL;
	if (!k->body || reducer_is_logic(r) != logic)
		return RED_NONE;
	dependence on = kernel_dependence(k, input);
	if (r == RED_SUM)
		return adds(k, input) && on.linear >> SLOT_INPUT & 1
			       ? RED_SUM
			       : RED_NONE;
	int by = choice_of(r), only = choice_of(k->reducer);
	for (int to = 0; by >= 0 && to < NCHOICES; to++)
		if (on.monotone[by][to] >> SLOT_INPUT & 1 &&
		    (k->reducer == RED_NONE || to == only))
			return reducer_for(k, to);
	return RED_NONE;
}
