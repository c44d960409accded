/* Data-dependent reads that become stages.
 *
 * A read at a data-dependent index can be divided along the dimension that it
 * looks up (kernel/linearity.h), but only if the body is linear in it.  In any
 * other body, such as relu(table[ids[i], j]), the read becomes a stage of which
 * it is the whole body, in the same way as a reduction inside an expression. */
#include "config.h"

#include "compiler/expand/context.h"

/* Whether a read is data-dependent and can be summed; a bool cannot. */
static bool is_gather(const kexpr *e)
{
	if (e->kind != KX_READ || e->guarded || e->type == DT_BOOL)
		return false;
	for (int d = 0; d < kx_ndim(e); d++)
		if (kx_has_read(e->args[d]))
			return true;
	return false;
}

/* A body that consists of one read gains nothing from a stage of its own. */
bool has_gather(const kexpr *e)
{
	for (int i = 0; i < e->nargs && !is_gather(e); i++)
		if (is_gather(e->args[i]) || has_gather(e->args[i]))
			return true;
	return false;
}

/* Makes a stage of read e over the variables that it uses.  Returns the read of
 * the stage's result. */
static kexpr *gather_stage(context *cx, kexpr *e)
{
	int outs[MAX_NVARS];
	int nouts = used_vars(cx, &e, 1, NULL, 0, outs);
	if (nouts > MAX_NDIM)
		return e;
	const char *label = arena_printf(cx->tmp, "gather%d",
					 ++cx->nextracted);
	int value = add_stage(cx, label, outs, nouts, NULL, 0, RED_NONE,
			      e->type, e);
	if (value < 0)
		return e;
	kexpr *index[MAX_NDIM];
	for (int i = 0; i < nouts; i++)
		index[i] = kx_var(cx->tmp, outs[i]);
	return kx_read(cx->tmp, value, e->type, nouts, index, NULL);
}

/* The number of leading arguments that are evaluated in any case. */
static int always_evaluated(const kexpr *e)
{
	bool logic = e->kind == KX_FN && (e->fn == FN_AND || e->fn == FN_OR);
	return logic || e->kind == KX_SELECT ? 1 : e->nargs;
}

/* A read under a condition stays where it is: elsewhere its index may be
 * outside the tensor. */
kexpr *extract_gathers(context *cx, kexpr *e)
{
	if (is_gather(e))
		return gather_stage(cx, e);
	kexpr *copy = ARENA_COPY(cx->tmp, e, 1);
	copy->args = ARENA_COPY(cx->tmp, e->args, e->nargs);
	for (int i = 0; i < always_evaluated(e); i++)
		copy->args[i] = extract_gathers(cx, e->args[i]);
	return copy;
}
