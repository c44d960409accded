/* `if condition then value else other' in C. */
#include "config.h"

#include "compiler/codegen/expr_piece.h"
#include "kernel/index_interval.h"

/* Whether the condition depends partly on indices.  Then an input may have no
 * elements for the reads on a side that is not taken. */
static bool is_of_indices(arena *a, const kernel *k, const kexpr *e)
{
	return index_cond(a, k, e, true) || index_cond(a, k, e, false);
}

/* Whether an index in e may be at fault, or is compared with an extent. */
static bool is_bound(const printer *p, const kexpr *e)
{
	if (e->kind == KX_READ) {
		for (int d = 0; d < kx_ndim(e); d++)
			if (is_data_index(e, d) || needs_check(p, e, d))
				return true;
	}
	for (int i = 0; i < e->nargs; i++)
		if (is_bound(p, e->args[i]))
			return true;
	return false;
}

bool calls_function(const kexpr *e)
{
	if (e->kind == KX_FN && dtype_is_float(e->type) && e->type != DT_F64 &&
	    fn_text_of(e->fn, DT_F32).form == TEXT_CALL)
		return true;
	for (int i = 0; e->kind != KX_READ && i < e->nargs; i++)
		if (calls_function(e->args[i]))
			return true;
	return false;
}

/* Whether both sides are always computed.  Compilers vectorise a function that
 * is always called; one under a condition only if they can tell that it has no
 * effects, which they cannot if it reads memory.  So both sides are computed if
 * only values decide and neither side can be at fault. */
static bool is_always_computed(printer *p, const kexpr *e)
{
	return !p->cuda && dtype_is_float(e->type) && e->type != DT_F64 &&
	       (calls_function(e->args[1]) || calls_function(e->args[2])) &&
	       !is_bound(p, e->args[1]) && !is_bound(p, e->args[2]) &&
	       !is_of_indices(p->a, p->nest.k, e->args[0]);
}

/* The side of a choice whose condition is settled; NULL. */
static const kexpr *settled_side(const printer *p, const kexpr *e)
{
	for (int i = 0; i < p->settled.n; i++)
		if (kx_equal(p->settled.at[i].e, e->args[0]))
			return e->args[p->settled.at[i].holds ? 1 : 2];
	return NULL;
}

expr_piece print_select(printer *p, const kexpr *e)
{
	const kexpr *side = settled_side(p, e);
	if (side)
		return print_piece(p, side);
	if (is_always_computed(p, e))
		return (expr_piece){
			arena_printf(p->a, "tdl_choose_f32(%s, %s, %s)",
				     print_piece(p, e->args[0]).s,
				     print_piece(p, e->args[1]).s,
				     print_piece(p, e->args[2]).s),
			BIND_ATOM};
	return (expr_piece){
		arena_printf(p->a, "%s ? %s : %s",
			     print_at(p, e->args[0], BIND_OR),
			     print_at(p, e->args[1], BIND_OR),
			     print_at(p, e->args[2], BIND_OR)),
		BIND_SELECT};
}
