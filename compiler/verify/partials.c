/* Checks partial values.  Inputs are split in two parts that a reducer has yet
 * to combine.  A stage's results for the parts are compared with those for the
 * whole.  Passings that are not claimed are tried, too. */
#include "config.h"

#include "compiler/verify/trial.h"

#include <math.h>
#include <string.h>

#include "kernel/abstract.h"

enum {
	PARTS = 2,
	NEXTREMES = 3,
	LEAST = 16, /* successes after which a passing counts as missed */
};

typedef struct passing {
	trial *t;
	rng random; /* its own, so that other checks draw the same numbers */
	const stage *stage;
	const kernel *k;
	uint32_t set;	    /* mask of the inputs that are in parts */
	reducer by;	    /* combines their parts */
	const view *whole;  /* all inputs */
	view *parts[PARTS]; /* all inputs, those of the set as parts, and .. */
	view *combined;	    /* .. combined */
	view want;	    /* result of the combined inputs */
	view got[PARTS];    /* result of each part */
} passing;

const char *inputs_text(arena *a, const kernel *k, uint32_t set)
{
	bool many = set & (set - 1);
	const char *text = many ? "{" : "";
	for (bool any = false; set; set &= set - 1, any = true)
		text = arena_printf(a, "%s%s%s", text, any ? ", " : "",
				    k->inputs[__builtin_ctz(set)].name);
	return many ? arena_printf(a, "%s}", text) : text;
}

/* ---- running ------------------------------------------------------------ */

static bool run(const passing *p, const view *inputs, view *out)
{
	box all = kernel_space(p->k);
	*out = new_result(p->t->arena, p->k);
	return kernel_eval(p->k, &all, inputs, out, stand_in, NULL) == EVAL_OK;
}

static view *copy_inputs(const passing *p)
{
	view *all = ARENA_ARRAY(p->t->arena, view, p->k->ninputs + 1);
	for (int i = 0; i < p->k->ninputs; i++)
		all[i] = p->set >> i & 1
				 ? copy_view(p->t->arena, &p->whole[i])
				 : p->whole[i];
	return all;
}

/* Adds numbers that operators may treat differently from small ones: numbers
 * that are not finite, or greater than half of the greatest f16 or f32.  One
 * kind at a time, and not in all inputs: a large number would show what
 * rounding hides, and NaN would hide everything. */
static void add_extremes(rng *r, int kind, view *v)
{
	static const double kinds[NEXTREMES][4] = {
		{ INFINITY, -INFINITY, NAN, NAN },
		{ 5e4, -5e4, 3e4, -3e4 },
		{ 3e38, -3e38, 2e38, -2e38 },
	};
	bool some = kind < NEXTREMES && rng_percent(r, 70);
	int64_t n = view_count(v);
	for (int64_t i = 0; i < n && some; i++)
		if (rng_percent(r, n < 3 ? 70 : 30))
			elem_set_f64(v->type, v->data, i,
				     kinds[kind][rng_in(r, 0, 3)]);
}

/* Adds multiples of 1/4, whose sums are exact. */
static void add_quarters(rng *r, view *v)
{
	int64_t n = view_count(v);
	for (int64_t i = 0; i < n && dtype_is_float(v->type); i++)
		elem_set_f64(v->type, v->data, i,
			     elem_get_f64(v->type, v->data, i) +
				     (double)rng_in(r, -3, 3) / 4);
}

static void draw_part(passing *p, const contents *c, int extremes, view *v)
{
	rng *r = &p->random;
	fill_random(r, c, v);
	if (p->by == RED_SUM)
		add_quarters(r, v);
	if (dtype_is_float(v->type))
		add_extremes(r, extremes, v);
}

/* Fills the parts with random numbers and combines them.  Extremes may also be
 * in other inputs. */
static void draw_parts(passing *p, int extremes)
{
	arena *a = p->t->arena;
	rng *r = &p->random;
	contents c = { .style = (int)rng_in(r, 0, 2), .lo = -6, .hi = 6 };
	if (p->by == RED_SUM)
		c.style = 0;
	p->combined = copy_inputs(p);
	for (int i = 0; i < p->k->ninputs && extremes < NEXTREMES; i++)
		if (!(p->set >> i & 1) &&
		    dtype_is_float(p->combined[i].type)) {
			p->combined[i] = copy_view(a, &p->combined[i]);
			add_extremes(r, extremes, &p->combined[i]);
		}
	for (int j = 0; j < PARTS; j++)
		p->parts[j] = ARENA_COPY(a, p->combined, p->k->ninputs);
	for (int i = 0; i < p->k->ninputs; i++) {
		view *v = &p->combined[i];
		if (!(p->set >> i & 1))
			continue;
		for (int j = 0; j < PARTS; j++) {
			p->parts[j][i] = copy_view(a, v);
			draw_part(p, &c, extremes, &p->parts[j][i]);
		}
		memcpy(v->data, p->parts[0][i].data,
		       (size_t)view_count(v) * dtype_size(v->type));
		reducer_combine(p->by, v->type, v->data, p->parts[1][i].data,
				view_count(v));
	}
}

/* Runs the stage on random parts.  Returns false if a part, or the combination,
 * cannot be run. */
static bool run_parts(passing *p, int extremes)
{
	draw_parts(p, extremes);
	bool ok = run(p, p->combined, &p->want);
	for (int j = 0; j < PARTS && ok; j++)
		ok = run(p, p->parts[j], &p->got[j]);
	return ok;
}

/* ---- comparing ---------------------------------------------------------- */

/* The unit round-off of the least precise float type in which a body
 * computes. */
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

/* The allowed error of sums: the rounding error of the largest value that
 * occurs in the results for parts of an input, in their sum, or in a part. */
static double *slack_of(const passing *p, bool inputs)
{
	int64_t n = view_count(&p->want);
	double most = 0;
	if (p->by != RED_SUM || !dtype_is_float(p->k->type))
		return NULL;
	double *slack = ARENA_ARRAY(p->t->arena, double, n + 1);
	for (int j = 0; j < PARTS; j++) {
		most = largest(&p->got[j], most);
		for (int i = 0; i < p->k->ninputs; i++)
			if (inputs && p->set >> i & 1)
				most = largest(&p->parts[j][i], most);
		if (p->k->reducer == RED_SUM)
			add_terms(p->t, p->k, p->parts[j], slack, n);
	}
	for (int64_t i = 0; i < n; i++)
		most = isfinite(slack[i]) && slack[i] > most ? slack[i] : most;
	for (int64_t i = 0; i < n; i++)
		slack[i] = most * 32 * fmax(coarsest(p->k->body),
					    unit_roundoff(p->k->type));
	return slack;
}

/* Whether the combined result says nothing: a part is NaN, or an infinite term
 * of a sum. */
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

/* The combined results of the parts.  If voids: with the whole's results in
 * places that say nothing, so that these do not count. */
static view combine(const passing *p, reducer to, bool voids)
{
	view got = copy_view(p->t->arena, &p->got[0]);
	int64_t n = view_count(&got);
	reducer_combine(to, got.type, got.data, p->got[1].data, n);
	for (int64_t i = 0; i < n && !voids; i++)
		if (is_void(p, i))
			elem_set_f64(got.type, got.data, i,
				     elem_get_f64(got.type, p->want.data, i));
	return got;
}

/* ---- what is said to pass ----------------------------------------------- */

static void check_claim(passing *p, reducer to)
{
	arena *a = p->t->arena;
	view got = combine(p, to, false);
	int64_t at;
	if (same_values(&got, &p->want, slack_of(p, true), true, &at))
		return;
	note(p->t, VERIFY_WRONG, p->stage->label, inputs_text(a, p->k, p->set),
	     0, "parts to be combined by %s do not pass by %s (element %lld is "
	     "%s, not %s)", reducer_name(p->by), reducer_name(to),
	     (long long)at, value_text(a, &got, at),
	     value_text(a, &p->want, at));
}

static void check_claims(passing *p)
{
	arena *a = p->t->arena;
	for (int i = 0; i < p->k->npassings; i++) {
		const kpassing *claim = &p->k->passings[i];
		p->set = claim->inputs;
		p->by = claim->by;
		note_name(p->t->v, &p->t->v->passing, p->stage->label,
			  arena_printf(a, "%s %s",
				       inputs_text(a, p->k, p->set),
				       reducer_name(p->by)));
		if (run_parts(p, NEXTREMES))
			check_claim(p, claim->to);
	}
}

/* ---- what is not -------------------------------------------------------- */

static bool is_said(const passing *p)
{
	for (int i = 0; i < p->k->npassings; i++)
		if (p->k->passings[i].inputs == p->set &&
		    p->k->passings[i].by == p->by)
			return true;
	return false;
}

static bool is_infinite(const view *v)
{
	bool any = false;
	int64_t n = view_count(v);
	for (int64_t i = 0; i < n; i++)
		any |= isinf(elem_get_f64(v->type, v->data, i));
	return any;
}

/* Counts a success or failure.  It counts only if neither part alone gives the
 * whole result, or if the combined result is wrong.  An infinite constant would
 * be its own sum. */
static void try_sum(const passing *p, int extremes)
{
	int64_t at;
	arena *a = p->t->arena;
	bool small = extremes == NEXTREMES;
	view got = combine(p, RED_SUM, extremes == 0 || small);
	double *slack = slack_of(p, false);
	bool works = same_values(&got, &p->want, slack, true, &at);
	for (int j = 0; j < PARTS && works; j++)
		if (same_values(&p->got[j], &p->want, slack, true, &at))
			return;
	attempt *x = find_attempt(p->t->v, p->stage->label,
				  inputs_text(a, p->k, p->set),
				  "its parts to be combined by Sum pass by Sum",
				  LEAST);
	x->tried++;
	x->failed += !works || (small && is_infinite(&p->want));
}

/* Whether a passing can be tested: a sum of floats with enough bits to tell.
 * Integers wrap around, and extremes may pass on numbers that occur alone. */
static bool is_tried(const passing *p)
{
	bool ok = !is_said(p) && dtype_keeps_sums(p->k->type);
	for (int i = 0; i < p->k->ninputs; i++)
		if (p->set >> i & 1)
			ok &= dtype_keeps_sums(p->k->inputs[i].type);
	return ok && coarsest(p->k->body) < unit_roundoff(DT_BF16);
}

static void try_set(passing *p)
{
	int extremes = (int)rng_in(&p->random, 0, NEXTREMES);
	p->by = RED_SUM;
	if (is_tried(p) && run_parts(p, extremes))
		try_sum(p, extremes);
}

/* Tries single inputs, pairs, and all inputs. */
static void try_sets(passing *p)
{
	int n = p->k->ninputs;
	for (int i = 0; i < n; i++)
		for (int j = i; j < n; j++) {
			p->set = UINT32_C(1) << i | UINT32_C(1) << j;
			try_set(p);
		}
	p->set = (UINT32_C(1) << n) - 1;
	if (n > 2)
		try_set(p);
}

void check_partials(trial *t, int at)
{
	const stage *st = &t->x->stages[at];
	passing p = { .t = t, .random = { ~t->v->random.state },
		      .stage = st, .k = st->kernel,
		      .whole = stage_inputs(t, at) };
	if (!p.k->body)
		return;
	check_claims(&p);
	try_sets(&p);
}
