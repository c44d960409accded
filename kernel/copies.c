/* Kernels part of whose result equals an input. */
#include "config.h"

#include "kernel/index_interval.h"
#include "kernel/region.h"

/* Whether e reads the input at the result's own index. */
static bool is_own_read(const kernel *k, const kexpr *e, int input)
{
	if (e->kind != KX_READ || e->input != input || e->guarded ||
	    e->type != k->type || e->nargs != k->nout)
		return false;
	for (int d = 0; d < k->nout; d++)
		if (e->args[d]->kind != KX_VAR || e->args[d]->var != d)
			return false;
	return true;
}

/* Whether a condition never has the value `want' in the space. */
static bool is_never(arena *a, const kernel *k, const kexpr *e, bool want,
		     const box *space)
{
	const cond *c = index_cond(a, k, e, want);
	box part = *space;
	return c && !index_narrow(c, &part);
}

bool kernel_copies(arena *a, const kernel *k, const box *space, int input)
{
	const kexpr *e = k->body;
	if (k->opaque || k->reducer != RED_NONE || k->nderived > 0)
		return false;
	while (e->kind == KX_SELECT) {
		if (is_never(a, k, e->args[0], false, space))
			e = e->args[1];
		else if (is_never(a, k, e->args[0], true, space))
			e = e->args[2];
		else
			return false;
	}
	return is_own_read(k, e, input);
}
