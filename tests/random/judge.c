#include "config.h"

#include "tests/random/judge.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"

enum { MOST_POINTS = 20000 };

/* ---- contents ----------------------------------------------------------- */

/* Finite numbers of a few bits; now and then infinities, NaN, limits. */
static double some_float(rng *r, dtype t, int style)
{
	const double special[] = { INFINITY, -INFINITY, (double)NAN, -0.0,
				   elem_greatest(t), elem_least(t), 0, 1e-30 };
	if (style == 3 && rng_percent(r, 25))
		return special[rng_in(r, 0, 7)];
	if (style == 0)
		return (double)rng_in(r, -4, 4);
	double x = (double)rng_in(r, 1, 4096) / 1024;
	return style == 1 ? x / 2 : rng_percent(r, 50) ? x : -x;
}

static int64_t some_int(rng *r, dtype t, int style)
{
	if (style == 3)
		return (int64_t)rng_next(r);
	return rng_in(r, dtype_is_signed(t) && style ? -4 : 0, 5);
}

static void fill(const random_param *p, uint64_t seed, view *v)
{
	rng r = { seed ^ hash_str(HASH_SEED, p->name) };
	int64_t n = view_count(v);
	int style = (int)rng_in(&r, 0, 3);
	if (style == 3 && rng_percent(&r, 50))
		style = 2;
	for (int64_t i = 0; i < n; i++)
		if (p->type == DT_BOOL)
			elem_set_i64(p->type, v->data, i, rng_percent(&r, 50));
		else if (dtype_is_float(p->type))
			elem_set_f64(p->type, v->data, i,
				     some_float(&r, p->type, style));
		else
			elem_set_i64(p->type, v->data, i,
				     some_int(&r, p->type, style));
}

/* ---- judging ------------------------------------------------------------ */

/* The first error. */
static const char *complaint(const diag_sink *s)
{
	return diag_errors(s) ? diag_message(s, 0) : "";
}

static bool is_small(const expansion *x)
{
	for (int i = 0; i < x->nstages; i++) {
		int64_t points = kernel_points(x->stages[i].kernel);
		if (points < 0 || points > MOST_POINTS)
			return false;
	}
	return true;
}

static const random_param *param_named(const random_operator *o,
				       const char *name)
{
	for (int i = 0; i < o->nparams; i++)
		if (!strcmp(o->params[i].name, name))
			return &o->params[i];
	return NULL;
}

/* The first wrong finding; NULL if all are right. */
static const char *finding(arena *a, const verifier *v)
{
	for (int i = 0; i < v->findings.n; i++) {
		const verify_finding *f = &v->findings.at[i];
		if (f->kind == VERIFY_WRONG)
			return arena_printf(a, "%s %s: %s", f->stage, f->about,
					    f->what);
	}
	return NULL;
}

/* Whether floats of less than 16 bits occur.  Then a sum of parts differs from
 * the whole by more than a rounding, and in types without infinity or NaN by
 * anything. */
static bool has_few_bits(const expansion *x, const draw *d)
{
	for (int i = 0; i < x->nparams; i++)
		if (dtype_bits(d->types[i].type) < 16 &&
		    dtype_is_float(d->types[i].type))
			return true;
	for (int i = 0; i < x->nstages; i++) {
		const kernel *k = x->stages[i].kernel;
		if (dtype_is_float(k->type) && dtype_bits(k->type) < 16)
			return true;
	}
	return false;
}

/* Compares the parts of each strategy with the whole, where the parts get the
 * elements of their regions and nothing else, and the descriptor with the
 * analysis for these shapes. */
static const char *analysed(trial *t, tdl_modules *m)
{
	int64_t effort = 200000;
	verifier *v = t->v;
	if (has_few_bits(t->x, t->drawn))
		return NULL;
	v->described = descriptor_of(t->arena, m, v->op);
	v->symbolic = symbolic_op(t->arena, m, v->op, &effort);
	for (int i = 0; i < t->x->nstages; i++) {
		check_cuts(t, i);
		check_partials(t, i);
	}
	check_passing(t);
	check_symbolic(t);
	return finding(t->arena, v);
}

static const char *compared(trial *t, const ref_outcome *right,
			    const view *values, agreement *count)
{
	for (int i = 0; i < right->nresults; i++) {
		const char *why = differs_from(t->arena,
					       &values[t->x->results[i]],
					       &right->results[i], count);
		if (why)
			return arena_printf(t->arena, "%s: %s",
					    t->v->op->results[i].name, why);
	}
	return NULL;
}

static void decide(judgement *j, verdict v, const char *why)
{
	j->verdict = v;
	j->why = why;
}

/* Judges by the reference, once the interpreter has run. */
static void settle(judgement *j, bool ran)
{
	j->right = define(&j->t);
	const char *why;
	switch (j->right.status) {
	case REF_TOO_LONG:
		decide(j, TOO_LARGE, "");
		return;
	case REF_REFUSED:
		decide(j, DIFFERS, j->right.why);
		return;
	case REF_OUTSIDE:
		if (ran && !j->right.doubtful)
			decide(j, DIFFERS, "by its definition it reads outside "
			       "a tensor");
		else
			decide(j, OUTSIDE, "");
		return;
	case REF_DONE:
		break;
	}
	if (!ran && !j->right.doubtful) {
		decide(j, DIFFERS, "by its definition it reads inside");
		return;
	}
	if (!ran) {
		decide(j, OUTSIDE, "");
		return;
	}
	why = compared(&j->t, &j->right, j->t.values, &j->count);
	decide(j, why ? DIFFERS : AGREES, why);
}

static tdl_modules *load(arena *a, const random_operator *o, judgement *j)
{
	diag_sink *sink = diag_sink_new(a);
	tdl_modules *m = dsl_new(a, sink, NULL, 0);
	if (dsl_load_text(m, "random.tdl", o->text, strlen(o->text)) &&
	    dsl_op(m, "f"))
		return m;
	decide(j, REFUSED, complaint(sink));
	return NULL;
}

/* Shapes, types and contents of the parameters. */
static void draw_params(arena *a, const random_operator *o, const ast_op *op,
			draw *d, view *values)
{
	d->attrs = ARENA_ARRAY(a, const attr_value *, op->nattrs + 1);
	d->types = ARENA_ARRAY(a, tensor_type, op->nparams + 1);
	for (int i = 0; i < op->nparams; i++) {
		const random_param *p = param_named(o, op->params[i].name);
		d->types[i] = (tensor_type){ .type = p->type, .ndim = p->ndim };
		memcpy(d->types[i].dims, p->dims, sizeof(p->dims));
		values[i] = new_view(a, p->type, p->ndim, p->dims);
		fill(p, o->seed, &values[i]);
	}
}

/* Whether nothing is computed, for a result or on the way to one. */
static bool is_empty(const ast_op *op, const ref_outcome *o)
{
	if (op->nlets > 0)
		return false;
	for (int i = 0; i < o->nresults; i++)
		if (ref_count(&o->results[i]) > 0)
			return false;
	return true;
}

/* Whether the types are said to be at odds, which are not: the checker does not
 * ask for bitcast()'s widths, nor whether constants give NaN. */
static bool is_about_types(const diag_sink *s)
{
	return diag_errors(s) > 0 &&
	       !strcmp(diag_at(s, 0).name, diag_name(DIAG_TYPE_MISMATCH)) &&
	       !strstr(diag_message(s, 0), "keeps their number") &&
	       !strstr(diag_message(s, 0), "nan where");
}

/* Expansion refuses the operator.  Where it says that a read is outside, it has
 * to be; what it cannot show to be inside may be so.  Where it says that 0
 * divides, something has to be computed.  What the checker accepts has types
 * that go together. */
static void refused(judgement *j, const diag_sink *sink)
{
	const char *why = complaint(sink);
	decide(j, UNSUITED, why);
	bool divides = strstr(why, "the divisor is 0");
	if (!strstr(why, "is read from") && !divides && !is_about_types(sink))
		return;
	j->right = define(&j->t);
	if (j->right.status == REF_DONE && !j->right.doubtful &&
	    (!divides || is_empty(j->t.v->op, &j->right)))
		decide(j, DIFFERS, arena_printf(j->t.arena, "by its definition "
						"it is computed: %s", why));
}

judgement judge(arena *a, const random_operator *o, bool analysis)
{
	judgement j = { .verdict = AGREES };
	tdl_modules *m = load(a, o, &j);
	if (!m)
		return j;
	verifier *v = ARENA_NEW(a, verifier);
	*v = (verifier){ .arena = a, .modules = m, .op = dsl_op(m, "f"),
			 .random = { o->seed },
			 .result = ARENA_NEW(a, verify_result) };
	const ast_op *op = v->op;
	diag_sink *sink = diag_sink_new(a);
	draw *d = ARENA_NEW(a, draw);
	view params[MAX_PARAMS];
	draw_params(a, o, op, d, params);
	j.t = (trial){ .arena = a, .v = v, .drawn = d, .values = params };
	j.t.x = expand_op(a, m, sink, op, d->types, d->attrs,
			  (call_site){ .place = "a test" });
	int nstages = j.t.x ? j.t.x->nstages : 0;
	j.t.values = ARENA_ARRAY(a, view, op->nparams + nstages + 1);
	memcpy(j.t.values, params, (size_t)op->nparams * sizeof(*params));
	if (!j.t.x) {
		refused(&j, sink);
		return j;
	}
	if (!is_small(j.t.x)) {
		decide(&j, TOO_LARGE, "");
		return j;
	}
	settle(&j, run_stages(&j.t));
	if (analysis && j.verdict == AGREES) {
		const char *why = analysed(&j.t, m);
		if (why)
			decide(&j, DIFFERS, why);
	}
	return j;
}
