/* Checks partial values by the definition.  The operator's stages together
 * claim to pass on partial values from parameters to results.  The reference is
 * run on parts of the parameters and on their combination, with its own
 * arithmetic. */
#include "config.h"

#include "compiler/verify/trial.h"

#include <math.h>

enum { PARTS = 2, WHOLE = PARTS, NRUNS };

typedef struct claim {
	uint32_t set;	  /* mask of the parameters .. */
	reducer by;	  /* .. that are in parts, and their reducer */
	reducer *results; /* combine the results; RED_NONE: a whole one */
} claim;

/* ---- what is said ------------------------------------------------------- */

static const kpassing *find_passing(const kernel *k, uint32_t inputs,
				    reducer by)
{
	for (int i = 0; i < k->npassings; i++)
		if (k->passings[i].inputs == inputs && k->passings[i].by == by)
			return &k->passings[i];
	return NULL;
}

/* Notes in of[], by value, the reducer of a stage's result.  Returns false if
 * the stage does not claim to pass on its partial inputs. */
static bool hand_on(const trial *t, int at, reducer *of)
{
	const stage *st = &t->x->stages[at];
	uint32_t inputs = 0;
	reducer by = RED_NONE;
	for (int i = 0; i < st->kernel->ninputs; i++) {
		reducer r = of[st->inputs[i]];
		if (r == RED_NONE)
			continue;
		if (by != RED_NONE && r != by)
			return false;
		by = r;
		inputs |= UINT32_C(1) << i;
	}
	if (inputs == 0)
		return true;
	const kpassing *p = find_passing(st->kernel, inputs, by);
	of[t->x->nparams + at] = p ? p->to : RED_NONE;
	return p != NULL;
}

/* Whether c's parameters may be partial so that at least one result is partial.
 * Sets the reducers of the results. */
static bool is_said(const trial *t, claim *c)
{
	const expansion *x = t->x;
	bool any = false;
	reducer *of = ARENA_ARRAY(t->arena, reducer, x->nparams + x->nstages);
	for (int i = 0; i < x->nparams; i++)
		of[i] = c->set >> i & 1 ? c->by : RED_NONE;
	for (int i = 0; i < x->nstages; i++)
		if (!hand_on(t, i, of))
			return false;
	c->results = ARENA_ARRAY(t->arena, reducer, x->nresults);
	for (int i = 0; i < x->nresults; i++) {
		c->results[i] = of[x->results[i]];
		any |= x->results[i] >= x->nparams &&
		       c->results[i] != RED_NONE;
	}
	return any;
}

/* Whether the reference's error bounds also bound its distance from real
 * numbers.  They bound the distance of other results from it, where each value
 * in a short type is rounded in the same way. */
static bool is_exact(const trial *t)
{
	bool exact = true;
	for (int i = 0; i < t->x->nparams + t->x->nstages; i++) {
		dtype type = t->values[i].type;
		exact &= !dtype_is_float(type) || dtype_bits(type) >= 32;
	}
	return exact;
}

/* Draws one of all claims at random.  Returns false if there is none. */
static bool draw_claim(const trial *t, rng *r, claim *out)
{
	static const reducer all[] = { RED_SUM, RED_MAX, RED_MIN, RED_OR,
				       RED_AND };
	enum { NREDUCERS = sizeof(all) / sizeof(*all), MOST_PARAMS = 6 };
	int n = 0, nparams = t->x->nparams;
	bool exact = is_exact(t);
	uint32_t end = UINT32_C(1) << (nparams < MOST_PARAMS ? nparams
							     : MOST_PARAMS);
	for (uint32_t set = 1; set < end; set++)
		for (int i = 0; i < NREDUCERS; i++) {
			claim c = { .set = set, .by = all[i] };
			if ((exact || c.by != RED_SUM) && is_said(t, &c) &&
			    rng_in(r, 0, n++) == 0)
				*out = c;
		}
	return n > 0;
}

/* ---- parts -------------------------------------------------------------- */

static ref_number combined(reducer r, ref_number x, ref_number y)
{
	static const char *const names[RED_COUNT] = {
		[RED_SUM] = "+", [RED_MAX] = "max", [RED_MIN] = "min",
	};
	if (x.doubt || y.doubt)
		return ref_doubt(x.type);
	if (r == RED_OR || r == RED_AND)
		return ref_bool(r == RED_OR ? x.i || y.i : x.i && y.i);
	return ref_stored(ref_apply(names[r], 2, x, y));
}

/* Draws small numbers with exact sums; of one sign if roots have to be
 * numbers. */
static ref_number draw_number(rng *r, dtype t, bool positive)
{
	int64_t x = positive ? rng_in(r, 1, 16) : rng_in(r, -16, 16);
	if (t == DT_BOOL)
		return ref_bool(rng_percent(r, 50));
	return dtype_is_float(t) ? ref_stored(ref_float(t, (double)x / 4))
				 : ref_int(t, x / 4);
}

/* Puts parts of a parameter, and their combination, into its places. */
static void draw_parts(rng *r, reducer by, int param, ref_tensor **runs)
{
	bool positive = rng_percent(r, 30);
	int64_t n = ref_count(&runs[WHOLE][param]);
	for (int64_t i = 0; i < n; i++) {
		ref_number part[PARTS];
		for (int j = 0; j < PARTS; j++) {
			ref_tensor *x = &runs[j][param];
			part[j] = draw_number(r, x->type, positive);
			x->at[i] = part[j];
		}
		runs[WHOLE][param].at[i] =
			combined(by, part[0], part[1]);
	}
}

/* ---- results ------------------------------------------------------------ */

/* Nothing is claimed about infinities and NaN. */
static bool is_void(const ref_number *x)
{
	return x->doubt || (dtype_is_float(x->type) && !isfinite(x->f));
}

static bool is_near(const ref_number *x, const ref_number *y)
{
	if (!dtype_is_float(x->type))
		return x->i == y->i;
	return fabs(x->f - y->f) <= x->error + y->error;
}

static const char *number_text(arena *a, const ref_number *x)
{
	if (!dtype_is_float(x->type))
		return arena_printf(a, "%lld", (long long)x->i);
	return arena_printf(a, "%.9g", x->f);
}

static const char *params_text(const trial *t, uint32_t set)
{
	const char *text = "";
	bool many = set & (set - 1);
	for (; set; set &= set - 1)
		text = arena_printf(t->arena, "%s%s%s", text,
				    *text ? ", " : "",
				    t->v->op->params[__builtin_ctz(set)].name);
	return many ? arena_printf(t->arena, "{%s}", text) : text;
}

static void compare_result(trial *t, const claim *c, int at,
			   const ref_outcome *runs)
{
	reducer to = c->results[at];
	int64_t n = ref_count(&runs[WHOLE].results[at]);
	for (int64_t i = 0; i < n; i++) {
		ref_number x[NRUNS];
		bool nothing = false;
		for (int j = 0; j < NRUNS; j++) {
			x[j] = runs[j].results[at].at[i];
			nothing |= is_void(&x[j]);
		}
		ref_number got = to == RED_NONE ? x[0]
						: combined(to, x[0], x[1]);
		if (nothing || is_void(&got))
			continue;
		t->v->result->passed++;
		if (is_near(&got, &x[WHOLE]))
			continue;
		note(t, VERIFY_WRONG, "", params_text(t, c->set), 0,
		     "by its definition, parts to be combined by %s do not "
		     "give %s by %s (element %lld is %s, not %s)",
		     reducer_name(c->by), t->v->op->results[at].name,
		     to == RED_NONE ? "themselves" : reducer_name(to),
		     (long long)i, number_text(t->arena, &got),
		     number_text(t->arena, &x[WHOLE]));
		return;
	}
}

void check_passing(trial *t)
{
	rng r = { t->v->random.state ^ UINT64_C(0x5bd1e995) };
	claim c = { 0 };
	ref_tensor *params[NRUNS];
	ref_outcome runs[NRUNS];
	if (!draw_claim(t, &r, &c))
		return;
	for (int j = 0; j < NRUNS; j++)
		params[j] = definition_params(t);
	for (int i = 0; i < t->x->nparams; i++)
		if (c.set >> i & 1)
			draw_parts(&r, c.by, i, params);
	for (int j = 0; j < NRUNS; j++) {
		runs[j] = define_for(t, params[j]);
		if (runs[j].status != REF_DONE)
			return;
	}
	for (int i = 0; i < t->x->nresults; i++)
		compare_result(t, &c, i, runs);
}
