#include "config.h"

#include "layout/layout_text.h"

static const char *partial_text(arena *a, reducer r)
{
	return arena_printf(a, "partial(%s)", reducer_name(r));
}

const char *layout_axis_text(arena *a, int dim)
{
	return dim >= 0		 ? arena_printf(a, "cut %d", dim)
	       : dim == CUT_NONE ? "replicated"
				 : partial_text(a, cut_reducer(dim));
}

const char *layout_division_text(arena *a, const kernel *k, int dim)
{
	const kpassing *p = cut_passed(k, dim);
	return dim >= 0 ? k->vars[dim].name
	       : p	? partial_text(a, p->by)
			: NULL;
}
