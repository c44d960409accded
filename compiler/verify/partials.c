/* Partial values: an input in two parts that a reducer has yet to combine; a
 * stage's results for the parts are compared with that for the whole. */
#include "config.h"

#include "compiler/verify/trial.h"

#include <math.h>

#include "kernel/monotone.h"

enum { PARTS = 2 };

typedef struct passing {
	trial *t;
	const stage *stage;
	const kernel *k;
	int input;
	reducer by;	    /* of the parts of the input */
	view *inputs;	    /* with the combined input in its place */
	view parts[PARTS];  /* of the input */
	view want;	    /* what the combined input gives */
	view got[PARTS];    /* what each part gives */
} passing;

static bool run(const passing *p, const view *input, view *out)
{
	box all = kernel_space(p->k);
	p->inputs[p->input] = *input;
	*out = new_result(p->t->arena, p->k);
	return kernel_eval(p->k, &all, p->inputs, out, stand_in, NULL) ==
	       EVAL_OK;
}

/* Parts at random; false if they, or their combination, cannot be run. */
static bool run_parts(passing *p)
{
	trial *t = p->t;
	view whole = p->inputs[p->input];
	contents c = { .style = (int)rng_in(&t->v->random, 0, 2),
		       .lo = -6, .hi = 6 };
	if (p->by == RED_SUM)
		c.style = 0;
	for (int i = 0; i < PARTS; i++) {
		p->parts[i] = copy_view(t->arena, &whole);
		fill_random(&t->v->random, &c, &p->parts[i]);
	}
	view combined = copy_view(t->arena, &p->parts[0]);
	reducer_combine(p->by, combined.type, combined.data, p->parts[1].data,
			view_count(&combined));
	bool ok = run(p, &combined, &p->want);
	for (int i = 0; i < PARTS && ok; i++)
		ok = run(p, &p->parts[i], &p->got[i]);
	p->inputs[p->input] = whole;
	return ok;
}

/* The unit round-off of the smallest float that a body computes in. */
static double coarsest(const kexpr *e)
{
	double u = dtype_is_float(e->type) ? unit_roundoff(e->type) : 0;
	for (int i = 0; i < e->nargs; i++)
		u = fmax(u, coarsest(e->args[i]));
	return u;
}

static double largest(const view *v, double most)
{
	int64_t n = view_count(v);
	for (int64_t i = 0; i < n; i++) {
		double x = fabs(elem_get_f64(v->type, v->data, i));
		most = isfinite(x) && x > most ? x : most;
	}
	return most;
}

/* Sums may be off by the rounding of the largest value that occurs: in a part
 * of the input, in what it gives, or in what is summed up for that. */
static double *slack_of(const passing *p)
{
	int64_t n = view_count(&p->want);
	double most = 0;
	if (p->by != RED_SUM || !dtype_is_float(p->k->type))
		return NULL;
	double *slack = ARENA_ARRAY(p->t->arena, double, n + 1);
	view whole = p->inputs[p->input];
	for (int i = 0; i < PARTS; i++) {
		most = largest(&p->parts[i], largest(&p->got[i], most));
		p->inputs[p->input] = p->parts[i];
		if (p->k->reducer == RED_SUM)
			add_terms(p->t, p->k, p->inputs, slack, n);
	}
	p->inputs[p->input] = whole;
	for (int64_t i = 0; i < n; i++)
		most = isfinite(slack[i]) && slack[i] > most ? slack[i] : most;
	for (int64_t i = 0; i < n; i++)
		slack[i] = most * 32 * fmax(coarsest(p->k->body),
					    unit_roundoff(p->k->type));
	return slack;
}

/* Whether the combined result says nothing: a part is NaN, or is a term of a
 * sum and infinite. */
static bool is_void(const passing *p, int64_t i)
{
	bool no = false;
	for (int j = 0; j <= PARTS; j++) {
		const view *v = j < PARTS ? &p->got[j] : &p->want;
		double x = dtype_is_float(v->type)
				   ? elem_get_f64(v->type, v->data, i) : 0;
		no |= isnan(x) || (p->by == RED_SUM && isinf(x));
	}
	return no;
}

static void check_passing(passing *p, reducer to)
{
	arena *a = p->t->arena;
	view got = copy_view(a, &p->got[0]);
	int64_t at, n = view_count(&got);
	reducer_combine(to, got.type, got.data, p->got[1].data, n);
	for (int64_t i = 0; i < n; i++)
		if (is_void(p, i))
			elem_set_f64(got.type, got.data, i,
				     elem_get_f64(got.type, p->want.data, i));
	if (same_values(&got, &p->want, slack_of(p), true, &at))
		return;
	note(p->t, VERIFY_WRONG, p->stage->label,
	     p->k->inputs[p->input].name, 0,
	     "parts to be combined by %s do not pass by %s (element %lld is %s,"
	     " not %s)", reducer_name(p->by), reducer_name(to), (long long)at,
	     value_text(a, &got, at), value_text(a, &p->want, at));
}

/* An input that is read, and its parts combined by p->by. */
static void check_input(passing *p)
{
	const char *name = p->k->inputs[p->input].name;
	reducer to = kernel_commutes_with(p->k, p->input, p->by);
	if (to == RED_NONE)
		return;
	note_name(p->t->v, &p->t->v->passing, p->stage->label,
		  arena_printf(p->t->arena, "%s %s", name,
			       reducer_name(p->by)));
	if (run_parts(p))
		check_passing(p, to);
}

void check_partials(trial *t, int at)
{
	static const reducer all[] = { RED_SUM, RED_MAX, RED_MIN, RED_OR,
				       RED_AND };
	const stage *st = &t->x->stages[at];
	passing p = { .t = t, .stage = st, .k = st->kernel,
		      .inputs = stage_inputs(t, at) };
	for (p.input = 0; p.input < p.k->ninputs; p.input++)
		for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
			p.by = all[i];
			check_input(&p);
		}
}
