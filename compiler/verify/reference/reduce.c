/* Reductions and opaque functions of the reference. */
#include "config.h"

#include "compiler/verify/reference/frame.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- terms -------------------------------------------------------------- */

/* A reduction to which some terms have been added. */
typedef struct tally {
	const char *reducer;
	dtype type; /* of the terms */
	int64_t n;
	ref_number value;
	double sum;		/* of |terms| */
	/* products of the factors above 1 and below 1 */
	double most, least;
	VEC(ref_number) terms;	/* for ArgMax and ArgMin */
	bool doubt;
} tally;

static bool is(const tally *y, const char *reducer)
{
	return !strcmp(y->reducer, reducer);
}

static bool is_where(const tally *y)
{
	return is(y, "ArgMax") || is(y, "ArgMin");
}

static tally begin(const char *reducer, dtype t)
{
	tally y = { .reducer = reducer, .type = t, .most = 1, .least = 1 };
	double from = is(&y, "Prod") || is(&y, "And") ? 1
		      : is(&y, "Max")		      ? -INFINITY
		      : is(&y, "Min")		      ? INFINITY
						      : 0;
	y.value = isinf(from) ? ref_meet(ref_fraction(from), t)
			      : ref_meet(ref_constant((int64_t)from), t);
	y.value.error = 0;
	return y;
}

static void add_sum(tally *y, ref_number v)
{
	if (!dtype_is_float(y->type)) {
		y->value = ref_apply("+", 2, y->value, v);
		return;
	}
	y->value.f += v.f;
	y->value.error += v.error;
	y->sum += fabs(v.f) + v.error;
}

static void add_product(tally *y, ref_number v)
{
	double far = fabs(v.f);
	y->value = ref_apply("*", 2, y->value, v);
	y->most *= fmax(far + v.error, 1);
	y->least *= far > 0 ? fmin(far, 1) : 1;
}

/* A term that is certainly false decides And, and one that is certainly true
 * decides Or, even if others are in doubt. */
static void add_logic(tally *y, ref_number v)
{
	bool deciding = is(y, "Or");
	bool decided = !y->value.doubt && (y->value.i != 0) == deciding;
	if (decided || (!v.doubt && (v.i != 0) != deciding))
		return;
	y->value = v;
}

static void add_term(arena *a, tally *y, ref_number v)
{
	bool first = y->n++ == 0;
	if (is_where(y)) {
		vec_push(a, &y->terms, v);
		return;
	}
	if (is(y, "And") || is(y, "Or")) {
		add_logic(y, v);
		return;
	}
	y->doubt |= v.doubt;
	if (v.doubt || y->doubt)
		return;
	if (is(y, "Sum") || is(y, "Mean"))
		add_sum(y, v);
	else if (is(y, "Prod"))
		add_product(y, v);
	else
		y->value = first ? v
				 : ref_apply(is(y, "Max") ? "max" : "min", 2,
					     y->value, v);
	y->doubt |= y->value.doubt;
}

/* ---- results ------------------------------------------------------------ */

/* The sum in any order; each addition rounds. */
static ref_number end_sum(const tally *y)
{
	if (!dtype_is_float(y->type))
		return y->value;
	double top = y->type == DT_F64 ? DBL_MAX : (double)FLT_MAX;
	double error = y->value.error;
	if (isfinite(y->sum))
		error += (double)y->n * ref_unit(y->type) * y->sum;
	if (isfinite(y->sum) && y->sum > top)
		return ref_doubt(y->type);
	return ref_result(y->type, y->value.f, error);
}

static ref_number end_product(const tally *y)
{
	bool f64 = y->type == DT_F64;
	double top = f64 ? DBL_MAX : (double)FLT_MAX;
	double low = f64 ? DBL_MIN : (double)FLT_MIN;
	ref_number r = y->value;
	if (!dtype_is_float(y->type) || !isfinite(r.f))
		return r;
	if (y->most > top)
		return ref_doubt(y->type);
	if (y->least < low)
		r.error += y->most * low;
	return r;
}

/* In a type without infinity, Max begins with the least number of the type and
 * Min with the greatest.  A term that is not rounded yet may be beyond these;
 * then the result is in doubt. */
static ref_number end_extreme(const tally *y)
{
	dtype t = y->type;
	bool bounded = dtype_is_float(t) && !ref_has_infinity(t);
	if (bounded && y->n > 0 && (y->value.f < ref_least(t) ||
				    y->value.f > ref_greatest(t)))
		return ref_doubt(t);
	return y->value;
}

/* The position of the first greatest (or least) term.  A NaN counts as greater
 * and less than all others. */
static ref_number end_where(const tally *y)
{
	bool max = is(y, "ArgMax"), is_float = dtype_is_float(y->type);
	const ref_number *v = y->terms.at;
	int best = 0;
	for (int i = 0; i < y->terms.n; i++)
		if (v[i].doubt)
			return ref_doubt(DT_I64);
	for (int i = 1; i < y->terms.n; i++) {
		ref_number beyond = ref_apply(max ? ">" : "<", 2, v[i],
					      v[best]);
		if (is_float && isnan(v[best].f))
			break;
		if ((is_float && isnan(v[i].f)) ||
		    (is_float ? max ? v[i].f > v[best].f : v[i].f < v[best].f
			      : beyond.i != 0))
			best = i;
	}
	for (int i = 0; i < y->terms.n && is_float; i++) {
		double errors = v[i].error + v[best].error;
		if (i != best && errors > 0 &&
		    fabs(v[i].f - v[best].f) <= errors)
			return ref_doubt(DT_I64);
	}
	return ref_int(DT_I64, best);
}

/* The sum is a tensor of its own, which is divided by the number of points. */
static ref_number end_mean(const tally *y)
{
	ref_number sum = ref_passed(end_sum(y));
	return ref_apply("/", 2, sum, ref_meet(ref_constant(y->n), y->type));
}

static ref_number end(const tally *y)
{
	if (is_where(y))
		return end_where(y);
	if (y->doubt)
		return ref_doubt(y->type);
	if (is(y, "Sum"))
		return end_sum(y);
	if (is(y, "Mean"))
		return end_mean(y);
	if (is(y, "Prod"))
		return end_product(y);
	return is(y, "Max") || is(y, "Min") ? end_extreme(y) : y->value;
}

/* ---- reductions --------------------------------------------------------- */

/* The type of the terms.  Constants have the type of the reduction.  Terms that
 * are compared have no type around them. */
static dtype type_of_terms(frame *f, const ast_expr *e, dtype type)
{
	dtype t = ref_type_of(f, e->args[0]->args[0]), around = f->around;
	builtin_rule rule = builtin_find(BUILTIN_REDUCER, e->name)->rule;
	if (rule == RULE_LOGIC)
		return DT_BOOL;
	if (t != DT_NONE)
		return t;
	if (type != DT_NONE && rule != RULE_WHERE)
		return type;
	f->around = rule == RULE_WHERE ? DT_NONE : around;
	t = ref_open_type(f, e->args[0]->args, 1);
	f->around = around;
	return t;
}

ref_number ref_reduce(frame *f, const ast_expr *e, dtype type)
{
	const ast_expr *lambda = e->args[0];
	axis axes[REF_MAX_VARS];
	int64_t at[REF_MAX_VARS];
	ref_scope saved;
	int n = ref_open(f, lambda, NULL, axes, &saved);
	if (n < 0)
		return ref_doubt(DT_NONE);
	tally y = begin(e->name, type_of_terms(f, e, type));
	for (bool more = ref_first(f, axes, n, at); more && !ref_failed(f);
	     more = ref_next(f, axes, n, at))
		add_term(f->w->arena, &y,
			 ref_eval_as(f, lambda->args[0], y.type));
	ref_close(f, &saved);
	return end(&y);
}

/* ---- opaque functions --------------------------------------------------- */

/* The elements of a tensor at the indices of arg, all elements for each ':'. */
static ref_tensor slice_of(frame *f, const ast_expr *arg)
{
	const char *name = arg->kind == AST_INDEX ? arg->args[0]->name
						  : arg->name;
	const ref_name n = *ref_find(f, name);
	ref_tensor s = { .type = n.tensor->type };
	if (ref_uses_fault(f, &n) || arg->kind != AST_INDEX)
		return *n.tensor;
	/* Each ':' becomes a variable here. */
	int nnames = f->names.n, at = 0;
	axis axes[REF_MAX_NDIM];
	ast_expr vars[REF_MAX_NDIM], *items[REF_MAX_VARS];
	for (int i = 0; i < arg->nargs; i++) {
		items[i] = arg->args[i];
		if (i > 0 && items[i]->kind == AST_SLICE) {
			int64_t extent = n.tensor->dims[at];
			vars[s.ndim] = (ast_expr){ .kind = AST_NAME,
						   .name = arena_printf(
							   f->w->arena, ":") };
			axes[s.ndim] = (axis){ .extent = extent,
					       .name = f->names.n };
			ref_push(f, (ref_name){ .name = vars[s.ndim].name,
						.means = MEANS_VAR,
						.v = ref_int(DT_I64, 0) });
			items[i] = &vars[s.ndim];
			s.dims[s.ndim++] = extent;
		}
		at += i > 0 ? ref_width(f, items[i]) : 0;
	}
	ast_expr read = *arg;
	read.args = items;
	int64_t point[REF_MAX_NDIM], count = 0;
	s.at = ARENA_ARRAY(f->w->arena, ref_number, ref_count(&s) + 1);
	for (bool more = ref_first(f, axes, s.ndim, point);
	     more && !ref_failed(f); more = ref_next(f, axes, s.ndim, point))
		s.at[count++] = ref_read(f, &read, &n, NULL);
	f->names.n = nnames;
	return s;
}

/* The dimensions of a call's result.  Sizes are bound by the slices, attributes
 * by the call. */
static void opaque_dims(frame *f, const ast_expr *call, const ast_opaque *o,
			const ref_tensor *slices, ref_tensor *to)
{
	ast_op as_op = { .attrs = o->attrs, .nattrs = o->nattrs,
			 .params = o->params, .nparams = o->nparams };
	arena *a = f->w->arena;
	frame own = { .w = f->w, .op = &as_op, .params = slices };
	const ref_attr **attrs = ARENA_ARRAY(a, const ref_attr *,
					     o->nattrs + 1);
	for (int i = 0; i < call->nnamed; i++)
		for (int j = 0; j < o->nattrs; j++)
			if (o->attrs[j].name == call->named[i].name)
				attrs[j] = ref_attr_value(f, &o->attrs[j],
							  call->named[i]
								  .value);
	ref_bind_signature(&own, attrs);
	ref_declared_dims(&own, &o->results[0], to);
}

/* Whether all elements are exact.  If not, the result of an opaque function is
 * in doubt, because its propagation of errors is unknown. */
static bool are_exact(const ref_tensor *t)
{
	int64_t n = ref_count(t);
	for (int64_t i = 0; i < n; i++)
		if (t->at[i].doubt || t->at[i].error > 0)
			return false;
	return true;
}

ref_number ref_eval_opaque(frame *f, const ast_expr *e)
{
	const ast_expr *call = e->args[0];
	const ast_opaque *o = ref_opaque_of(f, call);
	arena *a = f->w->arena;
	ref_tensor *slices = ARENA_ARRAY(a, ref_tensor, call->nargs + 1);
	ref_tensor *result = ARENA_NEW(a, ref_tensor);
	bool exact = true;
	result->type = ref_type_of(f, e);
	for (int i = 0; i < call->nargs && !ref_failed(f); i++) {
		slices[i] = slice_of(f, call->args[i]);
		exact &= !ref_failed(f) && are_exact(&slices[i]);
	}
	if (!ref_failed(f))
		opaque_dims(f, call, o, slices, result);
	if (ref_failed(f) || !exact || !f->w->opaque)
		return ref_doubt(result->type);
	result->at = ARENA_ARRAY(a, ref_number, ref_count(result) + 1);
	f->w->opaque(o, call->nargs, slices, result);
	return ref_read(f, e, &(ref_name){ .tensor = result }, NULL);
}
