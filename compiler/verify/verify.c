#include "config.h"

#include "compiler/verify/trial.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/hash.h"

enum {
	/* of a stage's iteration space, or elements of a tensor */
	FEW_POINTS = 4000,
	MANY_POINTS = 400000, /* the same if no draw was that small, and .. */
	MANY_TRIALS = 3,      /* .. the number of shapes tried then */
	MAX_STAGES = 256,
	DRAWS = 150,	   /* for each shape that is to be tried */
	LAST_DRAWS = 6000, /* in all, with MANY_POINTS */
	/* random contents tried until all indices read from them are inside */
	FILLS = 8,
	MIN_ATTEMPTS = 3,  /* shapes that prove that the descriptor differs */
};

/* ---- findings ----------------------------------------------------------- */

static verify_finding *find_finding(verifier *v, verify_kind kind,
				    const char *label, const char *about,
				    const char *key)
{
	for (int i = 0; i < v->findings.n; i++) {
		verify_finding *f = &v->findings.at[i];
		size_t n = strlen(key);
		if (f->kind == kind && !strcmp(f->stage, label) &&
		    !strcmp(f->about, about) && !strncmp(f->what, key, n))
			return f;
	}
	return NULL;
}

/* The part of a sentence that distinguishes findings: its beginning, without
 * the numbers in parentheses at the end. */
static const char *key_of(arena *a, const char *what)
{
	const char *open = strstr(what, " (");
	return open ? arena_strndup(a, what, (size_t)(open - what)) : what;
}

static void note_for(verifier *v, verify_kind kind, const char *label,
		     const char *about, const char *what, const char *example)
{
	verify_finding *f = find_finding(v, kind, label, about,
					 key_of(v->arena, what));
	if (f) {
		f->times++;
		return;
	}
	verify_finding made = { kind, arena_strdup(v->arena, label),
				arena_strdup(v->arena, about), what, example,
				1 };
	vec_push(v->arena, &v->findings, made);
}

void note(trial *t, verify_kind kind, const char *label, const char *about,
	  int k, const char *format, ...)
{
	verifier *v = t->v;
	const char *example = draw_text(v->arena, v->op, t->drawn);
	va_list ap;
	va_start(ap, format);
	const char *what = arena_vprintf(v->arena, format, ap);
	va_end(ap);
	if (k)
		example = arena_printf(v->arena, "%s -k %d", example, k);
	note_for(v, kind, label, about, what, example);
}

void note_name_in(verifier *v, const char ***at, int *n, int *cap,
		  const char *label, const char *about)
{
	char *name = arena_printf(v->arena, "%s %s", label, about);
	for (int i = 0; i < *n; i++)
		if (!strcmp((*at)[i], name))
			return;
	if (*n == *cap)
		*at = vec_grow(v->arena, *at, cap, sizeof(**at));
	(*at)[(*n)++] = name;
}

const char *var_name(arena *a, const kernel *k, int v)
{
	const char *name = k->vars[v].name, *dot = strchr(name, '.');
	if (!dot || k->vars[v].kind == KVAR_DERIVED)
		return name;
	return arena_strndup(a, name, (size_t)(dot - name));
}

/* ---- one trial ---------------------------------------------------------- */

view *stage_inputs(const trial *t, int at)
{
	const stage *st = &t->x->stages[at];
	view *in = ARENA_ARRAY(t->arena, view, MAX_NINPUTS);
	for (int i = 0; i < st->kernel->ninputs; i++)
		in[i] = t->values[st->inputs[i]];
	return in;
}

bool run_stages(trial *t)
{
	for (int i = 0; i < t->x->nstages; i++) {
		const kernel *k = t->x->stages[i].kernel;
		view *out = &t->values[t->x->nparams + i];
		box all = kernel_space(k);
		*out = new_result(t->arena, k);
		if (kernel_eval(k, &all, stage_inputs(t, i), out, stand_in,
				NULL) != EVAL_OK)
			return false;
	}
	return true;
}

/* The range of random integers, which may be indices.  The first fills have
 * both signs and reach the extent of some dimension; the last ones are inside
 * every dimension. */
static contents choose_contents(trial *t, int fill)
{
	rng *r = &t->v->random;
	contents c = { .style = (int)rng_in(r, 0, 2), .hi = 6 };
	int64_t least = 7;
	for (int i = 0; i < t->x->nparams; i++) {
		const tensor_type *p = &t->drawn->types[i];
		for (int d = 0; d < p->ndim; d++) {
			if (p->dims[d] > 0 && p->dims[d] < least)
				least = p->dims[d];
			if (rng_percent(r, 30))
				c.hi = p->dims[d];
		}
	}
	if (fill >= FILLS / 2)
		c.hi = least - 1;
	if (fill == FILLS - 1 || c.hi < 0)
		c.hi = 0;
	c.lo = fill == 0 ? -c.hi - 1 : fill % 2 ? -c.hi : 0;
	if (fill > FILLS / 2)
		c.lo = 0;
	return c;
}

bool begin_trial(trial *t)
{
	const expansion *x = t->x;
	t->values = ARENA_ARRAY(t->arena, view, x->nparams + x->nstages + 1);
	for (int i = 0; i < x->nparams; i++) {
		const tensor_type *p = &t->drawn->types[i];
		t->values[i] = new_view(t->arena, p->type, p->ndim, p->dims);
	}
	for (int i = 0; i < FILLS; i++) {
		contents c = choose_contents(t, i);
		for (int j = 0; j < x->nparams; j++)
			fill_random(&t->v->random, &c, &t->values[j]);
		if (run_stages(t))
			return true;
	}
	return false;
}

static bool is_few(const int64_t *dims, int n, int64_t limit)
{
	int64_t count;
	return ck_product(dims, n, &count) && count <= limit;
}

static bool is_small(const expansion *x, const draw *d, int64_t limit)
{
	for (int i = 0; i < x->nparams; i++)
		if (!is_few(d->types[i].dims, d->types[i].ndim, limit))
			return false;
	for (int i = 0; i < x->nstages; i++) {
		const kernel *k = x->stages[i].kernel;
		int64_t dims[MAX_NVARS], points = kernel_points(k);
		for (int v = 0; v < k->nout; v++)
			dims[v] = k->vars[v].extent;
		if (points < 0 || points > limit ||
		    !is_few(dims, k->nout, limit))
			return false;
	}
	return x->nstages <= MAX_STAGES;
}

/* Whether a result has an element. */
static bool computes(const expansion *x)
{
	for (int i = 0; i < x->nresults; i++) {
		box all = box_whole(x->result_types[i].dims,
				    x->result_types[i].ndim);
		if (box_volume(&all) > 0)
			return true;
	}
	return false;
}

/* Tries a draw.  Returns false if it does not count because it does not suit
 * the operator, is too large, or has empty results.  Empty results are checked
 * nevertheless. */
static bool try_draw(verifier *v, arena *a, const draw *d, int64_t limit)
{
	call_site site = { .place = "verify" };
	expansion *x = expand_op(a, v->modules, diag_sink_new(a), v->op,
				 d->types, d->attrs, site);
	trial t = { .arena = a, .v = v, .drawn = d, .x = x };
	if (!x || !is_small(x, d, limit) || !begin_trial(&t))
		return false;
	for (int i = 0; i < x->nstages; i++) {
		check_cuts(&t, i);
		check_regions(&t, i);
		check_attempts(&t, i);
		check_partials(&t, i);
	}
	bool computed = computes(x);
	v->result->defined += check_reference(&t) && computed;
	check_passing(&t);
	check_symbolic(&t);
	if (v->gradients)
		check_gradients(&t);
	return computed;
}

/* ---- an operator -------------------------------------------------------- */

void report_attempts(verifier *v)
{
	for (int i = 0; i < v->attempts.n; i++) {
		const attempt *a = &v->attempts.at[i];
		if (a->failed || a->tried < a->least)
			continue;
		const char *what = arena_printf(
			v->arena, "%s (%d times), and it is not offered",
			a->what, a->tried);
		note_for(v, VERIFY_MISSED, a->stage, a->about, what, "");
	}
}

/* Makes up to `draws' draws until `trials' shapes have counted. */
static void try_draws(verifier *v, int trials, int draws, int64_t limit)
{
	const role *roles = roles_of(v->arena, v->op);
	for (int i = 0; i < draws && v->result->shapes < trials; i++) {
		arena *work = arena_new();
		draw d;
		if (draw_signature(work, &v->random, v->op, roles, &d))
			v->result->shapes += try_draw(v, work, &d, limit);
		arena_free(work);
	}
}

verify_result verify_op(arena *a, tdl_modules *m, const ast_op *op,
			const verify_options *options)
{
	verify_result r = { .name = op->name };
	int64_t effort = 200000;
	verifier v = { .arena = a, .modules = m, .op = op, .result = &r,
		       .random = { options->seed ^
				   hash_str(HASH_SEED, op->name) } };
	v.described = descriptor_of(a, m, op);
	v.symbolic = symbolic_op(a, m, op, &effort);
	r.open = v.described->open_because != NULL;
	if (options->gradients && !op->grad_of)
		derive_gradients(&v, m);
	try_draws(&v, options->trials, options->trials * DRAWS, FEW_POINTS);
	if (r.shapes == 0)
		try_draws(&v, options->trials < MANY_TRIALS ? options->trials
							    : MANY_TRIALS,
			  LAST_DRAWS, MANY_POINTS);
	report_attempts(&v);
	if (v.derived)
		report_gradients(&v);
	if (v.unlike >= MIN_ATTEMPTS && r.symbolic == 0)
		note_for(&v, VERIFY_MISSED, "", "",
			 "the descriptor has other stages or variables than "
			 "shapes give", "");
	r.strategies = r.shapes ? v.proved.n : 0;
	r.whole = r.shapes ? v.whole.n : 0;
	r.partials = r.shapes ? v.passing.n : 0;
	r.nfindings = v.findings.n;
	r.findings = v.findings.at;
	return r;
}
