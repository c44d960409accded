/* Tries cuts that are not offered.  One that works on every shape on which it
 * could have failed is a strategy that the analysis misses. */
#include "config.h"

#include "compiler/verify/trial.h"

#include <string.h>

enum { LEAST = 3 }; /* successes after which a strategy counts as missed */

typedef struct try {
	trial *t;
	const stage *stage;
	const kernel *k; /* with the variable that is tried */
	const view *inputs, *want;
} try;

attempt *find_attempt(verifier *v, const char *label, const char *about,
		      const char *what, int least)
{
	for (int i = 0; i < v->attempts.n; i++) {
		attempt *a = &v->attempts.at[i];
		if (!strcmp(a->stage, label) && !strcmp(a->about, about) &&
		    !strcmp(a->what, what))
			return a;
	}
	attempt made = { arena_strdup(v->arena, label),
			 arena_strdup(v->arena, about),
			 arena_strdup(v->arena, what), least, 0, 0 };
	vec_push(v->arena, &v->attempts, made);
	return &v->attempts.at[v->attempts.n - 1];
}

static bool run(const try *y, int var, int p, view *out)
{
	box space = part_of(y->k, var, p, 2);
	*out = new_result(y->t->arena, y->k);
	return kernel_eval(y->k, &space, y->inputs, out, stand_in, NULL) ==
	       EVAL_OK;
}

/* Divides by var in two parts and combines these with r.  It counts only if
 * neither part alone gives the whole result, or if the combined result is
 * wrong. */
static void try_reducer(const try *y, int var, reducer r)
{
	view part[2];
	int64_t at;
	if (r == RED_SUM && !elem_has_zero(y->k->type))
		return; /* works as long as no part is empty */
	if (!run(y, var, 0, &part[0]) || !run(y, var, 1, &part[1]))
		return;
	bool first = same_values(&part[0], y->want, NULL, true, &at);
	bool second = same_values(&part[1], y->want, NULL, true, &at);
	view got = copy_view(y->t->arena, &part[0]);
	reducer_combine(r, y->k->type, got.data, part[1].data,
			view_count(&got));
	double *slack = rounding_slack(y->t, y->k, y->inputs, r, part, 2);
	bool works = same_values(&got, y->want, slack, true, &at);
	if (works && (first || second))
		return;
	attempt *a = find_attempt(y->t->v, y->stage->label,
				  var_name(y->t->arena, y->k, var),
				  arena_printf(y->t->arena, "its parts' "
					       "results combine by %s",
					       reducer_name(r)), LEAST);
	a->tried++;
	a->failed += !works;
}

/* Tries variables that are reduced and not offered. */
static void try_reductions(const try *y)
{
	static const reducer all[] = { RED_SUM, RED_PROD, RED_MAX, RED_MIN };
	for (int v = y->k->nout; v < y->k->nvars; v++) {
		if (strategy_offered(y->k, v, NULL) ||
		    y->k->vars[v].extent < 2)
			continue;
		for (int i = 0; i < 4; i++)
			try_reducer(y, v, all[i]);
	}
}

static bool is_looked_up(const kexpr *e, int input, int dim)
{
	if (e->kind == KX_READ && e->input == input &&
	    kx_has_read(e->args[dim]))
		return true;
	for (int i = 0; i < e->nargs; i++)
		if (is_looked_up(e->args[i], input, dim))
			return true;
	return false;
}

static bool has_derived(const kernel *k, int input, int dim)
{
	for (int i = 0; i < k->nderived; i++)
		if (k->derived[i].input == input && k->derived[i].dim == dim)
			return true;
	return false;
}

/* A kernel with one more derived variable, for the nth dimension of the input
 * that is looked up.  Packs of other widths move the dimension.  Shapes on
 * which a cut fails have to be counted with those on which it happens to
 * work. */
static kernel *with_derived(arena *a, const kernel *k, int input, int dim,
			    int nth)
{
	kernel *r = ARENA_COPY(a, k, 1);
	r->vars = ARENA_ARRAY(a, kvar, k->nvars + 1);
	r->derived = ARENA_ARRAY(a, kderived, k->nderived + 1);
	for (int v = 0; v < k->nvars; v++)
		r->vars[v] = k->vars[v];
	for (int i = 0; i < k->nderived; i++)
		r->derived[i] = k->derived[i];
	r->vars[r->nvars] = (kvar){
		arena_printf(a, "look-up %d of %s", nth, k->inputs[input].name),
		KVAR_DERIVED, k->inputs[input].dims[dim], NULL };
	r->derived[r->nderived++] = (kderived){ r->nvars++, input, dim };
	return r;
}

/* Tries dimensions that are indexed by data and have no variable. */
static void try_lookups_of(const try *y, int input)
{
	const kernel *k = y->k;
	const kinput *in = &k->inputs[input];
	for (int d = 0, nth = 0; d < in->ndim; d++) {
		if (!is_looked_up(k->body, input, d))
			continue;
		nth++;
		if (has_derived(k, input, d) || in->dims[d] < 2)
			continue;
		try more = *y;
		more.k = with_derived(y->t->arena, k, input, d, nth);
		try_reducer(&more, more.k->nvars - 1, RED_SUM);
	}
}

static void try_lookups(const try *y)
{
	const kernel *k = y->k;
	if (!k->body || k->type == DT_BOOL || k->nvars >= MAX_NVARS ||
	    (k->reducer != RED_NONE && k->reducer != RED_SUM))
		return;
	for (int i = 0; i < k->ninputs; i++)
		try_lookups_of(y, i);
}

void check_attempts(trial *t, int at)
{
	const stage *st = &t->x->stages[at];
	try y = { t, st, st->kernel, stage_inputs(t, at),
		  &t->values[t->x->nparams + at] };
	try_reductions(&y);
	try_lookups(&y);
}
