/* Compares a stage that is cut along each strategy with the whole stage. */
#include "config.h"

#include "compiler/verify/trial.h"

#include <math.h>

/* The results that parts of a stage compute from poisoned inputs. */
typedef struct cut {
	trial *t;
	const stage *stage;
	const kernel *k;
	int var, nparts;
	reducer reducer;
	const view *inputs; /* of the whole stage */
	const view *want;
} cut;

box part_of(const kernel *k, int v, int p, int parts)
{
	box space = kernel_space(k);
	block(0, space.hi[v], p, parts, &space.lo[v], &space.hi[v]);
	return space;
}

static void fail(const cut *c, const char *what)
{
	note(c->t, VERIFY_WRONG, c->stage->label,
	     var_name(c->t->arena, c->k, c->var), c->nparts, "%s", what);
}

/* Runs part p into out.  Returns false, with a finding, if it cannot be run. */
static bool run_part(const cut *c, int p, view *out)
{
	arena *a = c->t->arena;
	box space = part_of(c->k, c->var, p, c->nparts);
	box needs[MAX_NINPUTS];
	view inputs[MAX_NINPUTS];
	eval_fault fault;
	kernel_needs(c->k, &space, needs);
	for (int i = 0; i < c->k->ninputs; i++)
		inputs[i] = poisoned(a, &c->inputs[i], &needs[i]);
	c->t->v->result->parts++;
	if (kernel_eval(c->k, &space, inputs, out, stand_in, &fault) ==
	    EVAL_OK)
		return true;
	fail(c, "a part reads an index outside its region");
	return false;
}

static void compare(const cut *c, const view *got, const double *slack)
{
	arena *a = c->t->arena;
	int64_t at;
	if (same_values(got, c->want, slack, c->reducer != RED_NONE, &at))
		return;
	note(c->t, VERIFY_WRONG, c->stage->label,
	     var_name(a, c->k, c->var), c->nparts,
	     "the parts do not give what the whole gives (element %lld is %s, "
	     "not %s)", (long long)at, value_text(a, got, at),
	     value_text(a, c->want, at));
}

/* Checks a split: each part fills its block of the result. */
static void run_split(const cut *c)
{
	view got = new_result(c->t->arena, c->k);
	for (int p = 0; p < c->nparts; p++)
		if (!run_part(c, p, &got))
			return;
	compare(c, &got, NULL);
}

/* Whether an element says nothing because a part is infinite and the whole
 * result is not: a part of a sum or product that overflows.  If a derived
 * variable is divided, the whole result may be affected: a part takes 0 for a
 * row that it does not have, and 0 times infinity is NaN. */
static bool is_void(const cut *c, const view *parts, int64_t i)
{
	bool rounds = c->reducer == RED_SUM || c->reducer == RED_PROD;
	if (c->k->vars[c->var].kind == KVAR_DERIVED &&
	    !isfinite(elem_get_f64(c->want->type, c->want->data, i)))
		return true;
	for (int p = 0; p < c->nparts && rounds; p++)
		if (isinf(elem_get_f64(parts[p].type, parts[p].data, i)))
			return true;
	return false;
}

static void leave_out_void(const cut *c, const view *parts, view *got)
{
	int64_t n = dtype_is_float(got->type) ? view_count(got) : 0;
	for (int64_t i = 0; i < n; i++)
		if (is_void(c, parts, i))
			elem_set_f64(got->type, got->data, i,
				     elem_get_f64(got->type, c->want->data,
						  i));
}

/* Checks a reduction: each part gives a partial result, and these are
 * combined. */
static void run_reduced(const cut *c)
{
	view parts[MAX_PARTS];
	for (int p = 0; p < c->nparts; p++) {
		parts[p] = new_result(c->t->arena, c->k);
		if (!run_part(c, p, &parts[p]))
			return;
	}
	view got = copy_view(c->t->arena, &parts[0]);
	for (int p = 1; p < c->nparts; p++)
		reducer_combine(c->reducer, c->k->type, got.data,
				parts[p].data, view_count(&got));
	leave_out_void(c, parts, &got);
	compare(c, &got, rounding_slack(c->t, c->k, c->inputs, c->reducer,
					parts, c->nparts));
}

void check_cuts(trial *t, int at)
{
	const stage *st = &t->x->stages[at];
	cut c = { .t = t, .stage = st, .k = st->kernel,
		  .inputs = stage_inputs(t, at),
		  .want = &t->values[t->x->nparams + at] };
	for (c.var = 0; c.var < c.k->nvars; c.var++) {
		const char *name = var_name(t->arena, c.k, c.var), *why;
		if (!strategy_offered(c.k, c.var, &why)) {
			if (why)
				note_name(t->v, &t->v->whole, st->label, name);
			else
				note(t, VERIFY_MISSED, st->label, name, 0,
				     "it is not offered, and nothing says why");
			continue;
		}
		note_name(t->v, &t->v->proved, st->label, name);
		c.reducer = strategy_reducer(c.k, c.var);
		for (c.nparts = MIN_PARTS; c.nparts <= MAX_PARTS; c.nparts++)
			if (c.reducer == RED_NONE)
				run_split(&c);
			else
				run_reduced(&c);
	}
}
