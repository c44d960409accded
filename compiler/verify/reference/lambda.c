/* The variables of lambdas, their extents, and the points over which they
 * run. */
#include "config.h"

#include "compiler/verify/reference/frame.h"

/* ---- extents ------------------------------------------------------------ */

/* The extent of declared dimension `at' of a tensor; -1 if it is one of a
 * broadcast pack, which determines nothing. */
static int64_t extent_at(frame *f, const ref_name *n, int at)
{
	int first = 0, pack = ref_broadcast(f, n, &first);
	int last = pack < 0 ? 0 : first + f->packs.at[pack].rank;
	if (pack < 0 || at < first)
		return n->tensor->dims[at];
	return at < last ? -1 : n->tensor->dims[n->tensor->ndim -
						(ref_rank(f, n) - at)];
}

static int64_t extent_in(frame *f, const ast_expr *e, const char *var,
			 bool conditional);

/* The number of dimensions before operand i of a read, or what the operands
 * from i on leave. */
static int dims_before(frame *f, const ast_expr *e, int i, int rank)
{
	for (; i < e->nargs; i++)
		rank -= ref_width(f, e->args[i]);
	return rank;
}

static int64_t extent_by_read(frame *f, const ast_expr *e, const char *var)
{
	const ref_name *n = ref_find(f, e->args[0]->name);
	if (!n || n->means != MEANS_TENSOR)
		return -1;
	int rank = ref_rank(f, n);
	for (int i = 1, at = 0; i < e->nargs && at < rank; i++) {
		const ast_expr *item = e->args[i];
		int64_t extent = -1;
		if (item->kind == AST_NAME && item->name == var)
			extent = extent_at(f, n, at);
		if (extent >= 0)
			return extent;
		int width = ref_width(f, item);
		at = width < 0 ? dims_before(f, e, i + 1, rank) : at + width;
	}
	return -1;
}

/* Whether a lambda has a variable of this name, which hides it. */
static bool is_hidden(const ast_expr *lambda, const char *var)
{
	for (int i = 0; i < lambda->nvars; i++)
		if (lambda->vars[i].name == var)
			return true;
	return false;
}

/* The number of elements over which a variable runs, from the dimensions that
 * it indexes alone in e.  Guarded reads do not count; those under a condition
 * only if `conditional'.  -1 if nothing determines it. */
static int64_t extent_in(frame *f, const ast_expr *e, const char *var,
			 bool conditional)
{
	int64_t extent = -1;
	int first = 0, n = e->nargs;
	if (e->kind == AST_LAMBDA && is_hidden(e, var))
		return -1;
	if (e->kind == AST_GUARD) {
		e = e->args[0];
		first = 1;
		n = e->nargs;
	} else if (e->kind == AST_INDEX && e->args[0]->kind == AST_NAME) {
		extent = extent_by_read(f, e, var);
		first = 1;
	} else if (e->kind == AST_IF && !conditional) {
		n = 1;
	} else if (e->kind == AST_PACK && e->pack->kind == PACK_CALL) {
		extent = extent_in(f, e->pack->sel, var, conditional);
	}
	for (int i = first; i < n && extent < 0; i++)
		extent = extent_in(f, e->args[i], var, conditional);
	return extent;
}

static int64_t inferred(frame *f, const ast_expr *lambda, const ast_var *v)
{
	int64_t extent = extent_in(f, lambda->args[0], v->name, false);
	if (extent < 0)
		extent = extent_in(f, lambda->args[0], v->name, true);
	if (extent < 0)
		ref_refuse(f, v->at, "the extent of a variable is not known");
	return extent;
}

/* ---- scopes ------------------------------------------------------------- */

static int open_pack(frame *f, const ast_var *v, axis *axes)
{
	int pack, positions[REF_MAX_NDIM];
	int n = ref_positions(f, v->pack, v->at, &pack, positions);
	for (int i = 0; i < n; i++) {
		const ref_pack *p = &f->packs.at[pack];
		int d = positions[i];
		axes[i] = (axis){ .extent = p->extents[d], .name = -1,
				  .pack = pack, .dim = d, .outer = -1 };
		if (p->within < 0)
			continue;
		const ref_pack *all = &f->packs.at[p->within];
		axes[i].outer_dim = d + p->missing;
		if (all->extents[d + p->missing] == p->extents[d])
			axes[i].outer = p->within;
	}
	return n < 0 ? 0 : n;
}

static bool has_packs(const ast_expr *lambda)
{
	for (int i = 0; i < lambda->nvars; i++)
		if (lambda->vars[i].pack)
			return true;
	return false;
}

int ref_open(frame *f, const ast_expr *lambda, const int64_t *extents,
	     axis axes[REF_MAX_VARS], ref_scope *saved)
{
	int n = 0;
	*saved = (ref_scope){ f->names.n, f->packs.n, NULL };
	if (has_packs(lambda))
		saved->packs = ARENA_COPY(f->w->arena, f->packs.at,
					  f->packs.n + 1);
	for (int i = 0; i < lambda->nvars && !ref_failed(f); i++) {
		const ast_var *v = &lambda->vars[i];
		if (n + REF_MAX_NDIM > REF_MAX_VARS) {
			ref_refuse(f, v->at, "too many variables");
			break;
		}
		if (v->pack) {
			n += open_pack(f, v, axes + n);
			continue;
		}
		int64_t extent = v->extent ? ref_eval_size(f, v->extent)
				 : extents ? extents[n]
					   : inferred(f, lambda, v);
		extent = extent > 0 ? extent : 0;
		axes[n++] = (axis){ .extent = extent, .name = f->names.n };
		ref_push(f, (ref_name){ .name = v->name, .means = MEANS_VAR,
					.extent = extent,
					.v = ref_int(DT_I64, 0) });
	}
	return ref_failed(f) ? -1 : n;
}

void ref_close(frame *f, const ref_scope *saved)
{
	f->names.n = saved->nnames;
	if (!saved->packs)
		return;
	for (int i = 0; i < f->packs.n; i++)
		for (int d = 0; d < REF_MAX_NDIM; d++)
			f->packs.at[i].index[d] =
				i < saved->npacks ? saved->packs[i].index[d]
						  : -1;
}

/* ---- points ------------------------------------------------------------- */

static void set(frame *f, const axis *a, int64_t v)
{
	if (a->name >= 0) {
		f->names.at[a->name].v.i = v;
		return;
	}
	f->packs.at[a->pack].index[a->dim] = v;
	if (a->outer >= 0)
		f->packs.at[a->outer].index[a->outer_dim] = v;
}

bool ref_first(frame *f, const axis *axes, int n, int64_t *at)
{
	bool some = true;
	for (int i = 0; i < n; i++) {
		at[i] = 0;
		set(f, &axes[i], 0);
		some &= axes[i].extent > 0;
	}
	return some;
}

bool ref_next(frame *f, const axis *axes, int n, int64_t *at)
{
	for (int i = n; i-- > 0;) {
		bool more = ++at[i] < axes[i].extent;
		if (!more)
			at[i] = 0;
		set(f, &axes[i], at[i]);
		if (more)
			return true;
	}
	return false;
}
