/* Lambdas: their variables and extents, reductions, and how they become
 * stages. */
#include "config.h"

#include "compiler/expand/context.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/checked.h"

/* ---- scopes ------------------------------------------------------------- */

scope scope_push(context *cx)
{
	scope s = { cx->packs.n, NULL, cx->nowhere };
	s.saved = ARENA_ARRAY(cx->tmp, kexpr *, s.npacks * MAX_NDIM);
	for (int i = 0; i < s.npacks; i++)
		memcpy(s.saved + i * MAX_NDIM, cx->packs.at[i]->index,
		       sizeof(cx->packs.at[i]->index));
	return s;
}

void scope_pop(context *cx, const scope *s)
{
	cx->nowhere = s->nowhere;
	for (int i = 0; i < cx->packs.n; i++) {
		kexpr **index = cx->packs.at[i]->index;
		if (i < s->npacks)
			memcpy(index, s->saved + i * MAX_NDIM,
			       MAX_NDIM * sizeof(*index));
		else
			memset(index, 0, MAX_NDIM * sizeof(*index));
	}
}

/* ---- extents ------------------------------------------------------------ */

/* The extent of a variable as far as reads determine it. */
typedef struct inference {
	const char *name;
	bool found;
	int64_t extent;
	range at;
	bool disagrees;
} inference;

static void found(context *cx, inference *in, int64_t extent, range at)
{
	if (in->found && in->extent != extent && !in->disagrees) {
		in->disagrees = true;
		expand_error(cx, DIAG_EXTENT_DISAGREES, at,
			     "the index '%s' runs over %lld elements here",
			     in->name, (long long)extent);
		diag_note(cx->sink, in->at, "and over %lld elements here",
			  (long long)in->extent);
	}
	if (in->found)
		return;
	in->found = true;
	in->extent = extent;
	in->at = at;
}

/* The extent of declared dimension `at' of a value; -1 if it comes from a
 * broadcast pack. */
static int64_t dim_of(const xvalue *v, int at)
{
	int missing = v->rank - v->type.ndim;
	if (!v->broadcast || at < v->pack_at)
		return at < v->type.ndim ? v->type.dims[at] : -1;
	if (at < v->pack_at + v->broadcast->rank)
		return -1;
	return at - missing < v->type.ndim ? v->type.dims[at - missing] : -1;
}

/* The dimension that operand i of a read indexes.  It is counted from the end
 * if an item before it takes all remaining dimensions; -1 if it is not
 * known. */
static int dim_at(context *cx, const ast_expr *read, int i, int rank)
{
	int before = 0, behind = 0, width = 0;
	for (int j = 1; j < i && width >= 0; j++) {
		width = item_width(cx, read->args[j]);
		before += width;
	}
	if (width >= 0)
		return before < rank ? before : -1;
	for (int j = i + 1; j < read->nargs && width != -1; j++) {
		width = item_width(cx, read->args[j]);
		behind += width;
		if (width < 0)
			return -1;
	}
	return width == -1 ? -1 : rank - behind - 1;
}

/* The extent of the dimension that a variable indexes; -1 if it follows from a
 * broadcast pack. */
static int64_t indexed_extent(context *cx, const ast_indexing *x)
{
	const ast_expr *base = x->read->args[0];
	const xname *n = find_name(cx, base->symbol);
	const xvalue *v = n && n->kind == NAME_TENSOR
				  ? &cx->values.at[n->index]
				  : NULL;
	tensor_type t;
	if (n && n->kind == NAME_BROKEN) {
		const broken_let *b = n->broken;
		int at = b->ndim < 0 ? -1
				     : dim_at(cx, x->read, x->item, b->ndim);
		return at < 0 ? -1 : b->dims[at];
	}
	if (!v && (!ast_opaque_of(base) ||
		   !opaque_result_type(cx, base, &t, NULL)))
		return -1;
	int at = dim_at(cx, x->read, x->item, v ? v->rank : t.ndim);
	return at < 0 ? -1 : v ? dim_of(v, at) : t.dims[at];
}

/* Infers the extent from reads [from, to), those that have the variable as an
 * index. */
static void infer(context *cx, const ast_var *v, int from, int to,
		  inference *in)
{
	for (int i = from; i < to; i++) {
		const ast_indexing *x = &v->indexings[i];
		int64_t extent = indexed_extent(cx, x);
		if (extent >= 0)
			found(cx, in, extent, x->read->args[x->item]->at);
	}
}

/* Reports that no extent was found because a let has no value.  Returns whether
 * that is the reason. */
static bool is_of_broken(context *cx, const ast_var *v)
{
	for (int i = 0; i < v->nindexings; i++) {
		const ast_expr *read = v->indexings[i].read;
		if (expand_broken(cx, find_name(cx, read->args[0]->symbol)))
			return true;
	}
	return false;
}

static bool named_extent(context *cx, const ast_var *v, const int64_t *given,
			 int64_t *extent)
{
	if (v->extent) {
		if (!expand_constant(cx, v->extent, extent))
			return false;
		if (given && *given != *extent) {
			expand_error(cx, DIAG_EXTENT_DISAGREES, v->at,
				     "the index '%s' runs over %lld elements, "
				     "its dimension of the result has %lld",
				     v->name, (long long)*extent,
				     (long long)*given);
			return false;
		}
		return true;
	}
	if (given) {
		*extent = *given;
		return true;
	}
	inference in = { .name = v->name };
	infer(cx, v, 0, v->nalways, &in);
	if (!in.found)
		infer(cx, v, v->nalways, v->nindexings, &in);
	if (!in.found && !is_of_broken(cx, v))
		expand_error(cx, DIAG_EXTENT_UNKNOWN, v->at,
			     "the extent of the index '%s' cannot be inferred; "
			     "write '%s < ..'",
			     v->name, v->name);
	*extent = in.extent;
	return in.found && !in.disagrees;
}

static int add_var(context *cx, const char *name, int64_t extent)
{
	vec_push(cx->tmp, &cx->vars, ((xvar){ name, extent < 0 ? 0 : extent }));
	return cx->vars.n - 1;
}

/* Binds variables for the positions of a pack, each once; their extents are the
 * pack's. */
static int bind_pack(context *cx, const ast_var *v, const int64_t *extents,
		     int n, int *vars)
{
	xpack *p;
	int positions[MAX_NDIM];
	int count = pack_positions(cx, v->pack, v->at, &p, positions);
	if (count < 0 || count > n)
		return count < 0 ? -1 : count;
	for (int i = 0; i < count; i++) {
		int d = positions[i];
		if (extents && extents[i] != p->extents[d]) {
			expand_error(cx, DIAG_EXTENT_DISAGREES, v->at,
				     "dimension %d of '..%s' has %lld "
				     "elements, the result has %lld there",
				     d, p->name, (long long)p->extents[d],
				     (long long)extents[i]);
			return -1;
		}
		for (int j = 0; j < i; j++)
			if (positions[j] == d) {
				expand_error(cx, DIAG_BAD_AXIS, v->at,
					     "axis %d of '..%s' is given twice",
					     d, p->name);
				return -1;
			}
		const char *name = arena_printf(cx->tmp, "%s.%d", p->name, d);
		vars[i] = add_var(cx, name, p->extents[d]);
		p->index[d] = kx_var(cx->tmp, vars[i]);
		xpack *all = p->within;
		if (all && all->extents[d + p->missing] == p->extents[d])
			all->index[d + p->missing] = p->index[d];
	}
	return count;
}

int bind_vars(context *cx, const ast_expr *lambda, const int64_t *extents,
	      int n, int vars[MAX_NVARS])
{
	int count = 0, room = extents ? n : MAX_NVARS;
	for (int i = 0; i < lambda->nvars; i++) {
		const ast_var *v = &lambda->vars[i];
		const int64_t *given = extents ? extents + count : NULL;
		if (v->pack) {
			int width = bind_pack(cx, v, given, room - count,
					      vars + count);
			if (width < 0)
				return -1;
			count += width;
		} else if (count++ < room) {
			int64_t extent;
			if (!named_extent(cx, v, given, &extent))
				return -1;
			vars[count - 1] = add_var(cx, v->name, extent);
			bind_name(cx, v->symbol,
				  (xname){ .kind = NAME_VAR,
					   .index = vars[count - 1],
					   .at = v->at });
		}
		if (count > room)
			break;
	}
	if (count > room || (extents && count != n)) {
		expand_error(cx, DIAG_WRONG_RANK, lambda->at,
			     "the lambda has %s%d variables, %s%d",
			     count > room ? "at least " : "", count,
			     extents ? "the result's dimensions are "
				     : "at most ",
			     room);
		return -1;
	}
	for (int i = 0; i < count; i++)
		cx->nowhere |= cx->vars.at[vars[i]].extent == 0;
	return count;
}

/* ---- reductions --------------------------------------------------------- */

/* Whether e is a reduction by a reducer that kernels have. */
static bool is_by(const ast_expr *e, reducer r)
{
	const reducer_facts *by = ast_reducer(e);
	return by && !by->averages && by->kernel == r;
}

/* A compiled reduction.  Sum(lambda a: Sum(lambda b: e)) becomes one over a and
 * b.  So does Mean(lambda a: Sum(lambda b: e)), which is divided by the extent
 * of a: the first nown variables are those of the outermost lambda. */
typedef struct reduction {
	reducer reducer;
	int nvars, vars[MAX_NVARS];
	int nown;
	kexpr *body;
	dtype type; /* of the result */
} reduction;

static kexpr *identity_of(context *cx, reducer r, dtype t, range at)
{
	reducer_neutral n = reducer_table[r].neutral;
	val v = { .kind = t == DT_BOOL ? VAL_BOOL : VAL_INT,
		  .i = n == NEUTRAL_ONE };
	if (n == NEUTRAL_LEAST || n == NEUTRAL_GREATEST)
		v = val_float(n == NEUTRAL_LEAST ? -INFINITY : INFINITY);
	return expand_as(cx, v, t, at);
}

/* The type of a reduction's terms, given the type of the result.  It is the
 * same unless the terms are compared. */
static dtype term_type(context *cx, const ast_expr *body, reducer r,
		       dtype result)
{
	if (!reducer_is_where(r))
		return result;
	dtype around = cx->around;
	cx->around = DT_NONE;
	dtype t = expand_type(cx, body);
	cx->around = around;
	return t;
}

/* type: the result's type by the typing rules. */
static bool compile_reduction(context *cx, const ast_expr *e, dtype type,
			      reduction *out)
{
	const ast_expr *body = e, *lambda;
	reducer r = out->reducer = ast_reducer(e)->kernel;
	bool arg = reducer_is_where(r);
	out->nvars = 0;
	do {
		lambda = body->args[0];
		int vars[MAX_NVARS];
		int n = bind_vars(cx, lambda, NULL, 0, vars);
		if (n < 0)
			return false;
		if (out->nvars + n > MAX_NVARS) {
			expand_error(cx, DIAG_TOO_MANY_DIMENSIONS, e->at,
				     "more than %d reduction variables",
				     MAX_NVARS);
			return false;
		}
		memcpy(out->vars + out->nvars, vars, (size_t)n * sizeof(*vars));
		if (body == e)
			out->nown = n;
		out->nvars += n;
		body = lambda->args[0];
	} while (!arg && is_by(body, r));
	if (arg && out->nvars != 1) {
		expand_error(cx, DIAG_BAD_CALL, e->at,
			     "'%s' reduces over one variable, not %d", e->name,
			     out->nvars);
		return false;
	}
	dtype want = term_type(cx, body, r, type);
	out->body = expand_as(cx, expand_typed(cx, body, want), want, body->at);
	out->type = arg ? DT_I64 : out->body->type;
	if (!cx->failed && !reducer_takes(r, out->body->type))
		expand_error(cx, DIAG_TYPE_MISMATCH, e->at, "'%s' of %s",
			     e->name, dtype_name(out->body->type));
	return !cx->failed;
}

val expand_reduction(context *cx, const ast_expr *e)
{
	const reducer_facts *by = ast_reducer(e);
	reducer r = by->kernel;
	scope s = scope_push(cx);
	reduction red;
	bool ok = compile_reduction(cx, e, cx->want, &red);
	scope_pop(cx, &s);
	if (!ok)
		return val_bad;
	if (by->rule == RED_OF_FLOAT && !dtype_is_float(red.type)) {
		expand_error(cx, DIAG_TYPE_MISMATCH, e->at,
			     "'%s' takes floats; this is of type %s", by->name,
			     dtype_name(red.type));
		return val_bad;
	}
	/* A stage of its own would be evaluated everywhere. */
	if (cx->nowhere)
		return val_expr(identity_of(cx, RED_SUM, red.type, e->at));
	/* The position of an extreme is not used if the conditions do not hold,
	 * so any number will do. */
	kexpr *none = identity_of(cx, reducer_is_where(r) ? RED_SUM : r,
				  red.body->type, e->at);
	for (int i = cx->conditions.n - 1; i >= 0; i--)
		red.body = kx_select(cx->tmp, cx->conditions.at[i], red.body,
				     none);
	int outs[MAX_NVARS];
	int nouts = used_vars(cx, &red.body, 1, red.vars, red.nvars, outs);
	if (nouts > MAX_NDIM) {
		expand_error(cx, DIAG_TOO_MANY_DIMENSIONS, e->at,
			     "this reduction depends on %d variables, at most "
			     "%d are possible",
			     nouts, MAX_NDIM);
		return val_bad;
	}
	char *label = arena_printf(cx->tmp, "%s%d", e->name,
				   ++cx->nextracted);
	label[0] = (char)tolower((unsigned char)label[0]);
	int value = add_stage(cx, label, outs, nouts, red.vars, red.nvars, r,
			      red.type, red.body);
	if (value < 0)
		return val_bad;
	kexpr *index[MAX_NVARS];
	for (int i = 0; i < nouts; i++)
		index[i] = kx_var(cx->tmp, outs[i]);
	kexpr *read = kx_read(cx->tmp, value, red.type, nouts, index, NULL);
	if (!by->averages)
		return val_expr(read);
	double count = 1;
	for (int i = 0; i < red.nown; i++)
		count *= (double)cx->vars.at[red.vars[i]].extent;
	return val_expr(kx_fn2(cx->tmp, FN_DIV, read,
			       kx_float(cx->tmp, count, red.type)));
}

/* ---- lambdas as tensors ------------------------------------------------- */

/* The value of which e is an unchanged element, at the result's own index.  No
 * stage is needed to copy it. */
static int identity_read(const context *cx, const kexpr *e, const int *outs,
			 int nouts)
{
	if (e->kind != KX_READ || e->guarded)
		return -1;
	const tensor_type *t = &cx->values.at[e->input].type;
	if (t->ndim != nouts)
		return -1;
	for (int d = 0; d < nouts; d++)
		if (e->args[d]->kind != KX_VAR || e->args[d]->var != outs[d] ||
		    t->dims[d] != cx->vars.at[outs[d]].extent)
			return -1;
	return e->input;
}

static int lambda_value(context *cx, const ast_expr *lambda, const int *outs,
			int nouts, dtype type, const char *label)
{
	const ast_expr *body = lambda->args[0];
	const reducer_facts *by = ast_reducer(body);
	cx->around = type == DT_BOOL ? DT_NONE : type;
	dtype own = expand_type(cx, body);
	if (by && !by->averages) {
		reduction red;
		if (!compile_reduction(cx, body, own, &red))
			return -1;
		if (type != DT_NONE && type != red.type) {
			expand_error(cx, DIAG_TYPE_MISMATCH, body->at,
				     "this is of type %s, the result of type "
				     "%s; write cast(.., %s)",
				     dtype_name(red.type), dtype_name(type),
				     dtype_name(type));
			return -1;
		}
		return add_stage(cx, label, outs, nouts, red.vars, red.nvars,
				 red.reducer, red.type, red.body);
	}
	int nstages = cx->stages.n;
	val v = expand_typed(cx, body, own);
	kexpr *e = expand_as(cx, v, type == DT_NONE ? own : type, body->at);
	if (cx->failed)
		return -1;
	int same = identity_read(cx, e, outs, nouts);
	if (same >= 0) {
		if (same >= cx->nparams + nstages)
			relabel_stage(cx, same, label);
		return same;
	}
	int value = add_stage(cx, label, outs, nouts, NULL, 0, RED_NONE,
			      e->type, e);
	if (value < 0 || !has_gather(e) || stage_is_derived(cx, value))
		return value;
	drop_stage(cx);
	e = extract_gathers(cx, e);
	return cx->failed ? -1
			  : add_stage(cx, label, outs, nouts, NULL, 0,
				      RED_NONE, e->type, e);
}

int expand_lambda(context *cx, const ast_expr *lambda, const int64_t *extents,
		  int n, dtype type, const char *label)
{
	scope s = scope_push(cx);
	int outs[MAX_NVARS];
	int nouts = bind_vars(cx, lambda, extents, n, outs);
	int value = -1;
	if (nouts > MAX_NDIM)
		expand_error(cx, DIAG_TOO_MANY_DIMENSIONS, lambda->at,
			     "a tensor of %d dimensions, at most %d are "
			     "possible",
			     nouts, MAX_NDIM);
	else if (nouts >= 0)
		value = lambda_value(cx, lambda, outs, nouts, type, label);
	scope_pop(cx, &s);
	return value;
}
