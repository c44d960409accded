/* Tests: kernel compiler/analysis */
/* Abstract interpretation of random expressions, against the truth and against
 * itself.
 *
 *	facts [--seed S] [--from K] [--count N] [--print K] [--whole] [--first]
 *
 * Of a kernel: partial values that pass (kernel/monotone.h) do, by numbers that
 * the reference computes of the parts and of the whole.  Of an operator without
 * shapes: what its descriptor says holds of its kernels.  Operator K of a seed
 * is always the same; one that differs is made as small as it gets, unless
 * --whole, and printed.  --first ends at the first that differs, and leaves it
 * whole.  The exit status is 1 where something differs, or where too little was
 * compared. */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "kernel/abstract.h"
#include "kernel/linearity.h"
#include "kernel/monotone.h"
#include "tests/random/generate_facts.h"
#include "tests/random/judge.h"
#include "tests/random/shrink.h"

enum { NPARTS = 2, NWHOLE = NPARTS, NRUNS, CONTENTS = 4, MOST_STEPS = 100000 };

typedef struct totals {
	int64_t ops, refused, claims, joint, agreed, more, elements;
} totals;

typedef struct checking {
	arena *arena;
	const random_operator *o;
	tdl_modules *modules;
	const ast_op *op;
	const sym_op *symbolic;
	const expansion *x;
	totals *count;
	bool plain;
	const char *why; /* the first difference */
} checking;

static void differ(checking *c, const char *why)
{
	if (!c->why)
		c->why = why;
}

/* ---- numbers ------------------------------------------------------------ */

static ref_number number_of(rng *r, dtype t, int style)
{
	if (t == DT_BOOL)
		return ref_bool(rng_percent(r, 50));
	if (!dtype_is_float(t))
		return ref_int(t, style == 3 ? (int64_t)rng_next(r)
					     : rng_in(r, -3, 3));
	double x = (double)rng_in(r, -8, 8);
	if (style == 2 && rng_percent(r, 10))
		return ref_float(t, NAN);
	return ref_float(t, style == 0	 ? x / 4
			    : style == 1 ? fabs(x) / 2 + 0.5
			    : style == 2 ? x * 64
					 : x / 2);
}

/* Contents of a parameter; small ones only in sums. */
static ref_tensor contents_of(arena *a, const random_param *p, rng *r, bool sum)
{
	ref_tensor t = { .type = p->type, .ndim = p->ndim };
	int style = (int)rng_in(r, 0, sum ? 0 : 3);
	memcpy(t.dims, p->dims, sizeof(p->dims));
	int64_t n = ref_count(&t);
	t.at = ARENA_ARRAY(a, ref_number, n + 1);
	for (int64_t i = 0; i < n; i++)
		t.at[i] = number_of(r, p->type, style);
	return t;
}

/* Numbers that are not float are compared as such, of their type's sign. */
static bool is_less(const ref_number *x, const ref_number *y)
{
	if (dtype_is_float(x->type))
		return x->f < y->f;
	return x->type == DT_U64 ? (uint64_t)x->i < (uint64_t)y->i
				 : x->i < y->i;
}

static ref_number combined(reducer r, ref_number x, ref_number y)
{
	switch (r) {
	case RED_SUM:
		if (dtype_is_float(x.type))
			return ref_float(x.type, x.f + y.f);
		return ref_int(x.type,
			       (int64_t)((uint64_t)x.i + (uint64_t)y.i));
	case RED_MAX:
	case RED_OR:
		return isnan(y.f) || is_less(&x, &y) ? y : x;
	default:
		return isnan(y.f) || is_less(&y, &x) ? y : x;
	}
}

/* Of a NaN, an infinity or a number in doubt nothing is claimed. */
static bool is_void(const ref_number *x)
{
	return x->doubt || (dtype_is_float(x->type) && !isfinite(x->f));
}

/* The coarsest rounding: of the types that keep sums, f32 is cast to. */
static double units(const checking *c, dtype result)
{
	double u = unit_roundoff(DT_F32);
	if (dtype_is_float(result))
		u = fmax(u, unit_roundoff(result));
	for (int i = 0; i < c->o->nparams; i++)
		if (dtype_is_float(c->o->params[i].type))
			u = fmax(u, unit_roundoff(c->o->params[i].type));
	return u;
}

/* Whether two parts' results, combined, are that of the whole: of a sum up to
 * its rounding. */
static bool is_combined(const checking *c, reducer to, const ref_number *r)
{
	ref_number got = combined(to, r[0], r[1]), want = r[NWHOLE];
	if (!dtype_is_float(want.type))
		return got.i == want.i;
	double slack = r[0].error + r[1].error + want.error;
	if (to == RED_SUM)
		slack += 64 * units(c, want.type) *
			 (1 + fabs(r[0].f) + fabs(r[1].f) + fabs(want.f));
	return fabs(got.f - want.f) <= slack;
}

/* ---- claims against the truth ------------------------------------------- */

static const char *number_text(arena *a, const ref_number *x)
{
	return dtype_is_float(x->type)
		       ? arena_printf(a, "%.9g", x->f)
		       : arena_printf(a, "%" PRId64, x->i);
}

static void compare_elements(checking *c, const kernel *k, const kpassing *p,
			     const ref_outcome *out)
{
	arena *a = c->arena;
	int64_t n = ref_count(&out[0].results[0]);
	for (int64_t i = 0; i < n; i++) {
		ref_number r[NRUNS];
		bool nothing = false;
		for (int j = 0; j < NRUNS; j++) {
			r[j] = out[j].results[0].at[i];
			nothing |= is_void(&r[j]);
		}
		c->count->elements += !nothing;
		if (nothing || is_combined(c, p->to, r))
			continue;
		differ(c, arena_printf(a, "parts of %s by %s do not pass by %s:"
				       " %s and %s, and the whole is %s",
				       inputs_text(c->arena, k, p->inputs),
				       reducer_name(p->by),
				       reducer_name(p->to),
				       number_text(a, &r[0]),
				       number_text(a, &r[1]),
				       number_text(a, &r[NWHOLE])));
	}
}

static int param_named(const random_operator *o, const char *name)
{
	for (int i = 0; i < o->nparams; i++)
		if (!strcmp(o->params[i].name, name))
			return i;
	return -1;
}

/* Two parts of a parameter, and what they combine to. */
static void draw_parts(checking *c, int at, reducer by, rng *r,
		       ref_tensor (*params)[MAX_PARAMS])
{
	for (int j = 0; j < NRUNS; j++)
		params[j][at] = contents_of(c->arena, &c->o->params[at], r,
					    by == RED_SUM);
	int64_t n = ref_count(&params[NWHOLE][at]);
	for (int64_t i = 0; i < n; i++)
		params[NWHOLE][at].at[i] = combined(by, params[0][at].at[i],
						    params[1][at].at[i]);
}

/* Evaluates two parts of some inputs, and what they combine to. */
static void try_parts(checking *c, const kernel *k, const kpassing *p, rng *r)
{
	arena *a = c->arena;
	ref_tensor params[NRUNS][MAX_PARAMS];
	const ref_attr *none[4] = { NULL };
	ref_outcome out[NRUNS];
	for (int i = 0; i < c->o->nparams; i++) {
		ref_tensor x = contents_of(a, &c->o->params[i], r,
					   p->by == RED_SUM);
		for (int j = 0; j < NRUNS; j++)
			params[j][i] = x;
	}
	for (int i = 0; i < k->ninputs; i++)
		if (p->inputs >> i & 1)
			draw_parts(c, param_named(c->o, k->inputs[i].name),
				   p->by, r, params);
	for (int j = 0; j < NRUNS; j++) {
		out[j] = reference_run(a, c->modules, c->op, params[j], none,
				       NULL, MOST_STEPS);
		/* A condition tells infinity times 0 from other numbers. */
		bool hidden = out[j].infinite &&
			      out[j].results[0].type == DT_BOOL;
		if (out[j].status != REF_DONE || out[j].doubtful || hidden)
			return;
	}
	compare_elements(c, k, p, out);
}

/* An operator of one stage is its kernel, which reads its parameters. */
static void check_truth(checking *c)
{
	rng r = { c->o->seed };
	if (c->x->nstages != 1)
		return;
	const kernel *k = c->x->stages[0].kernel;
	for (int i = 0; i < k->npassings; i++) {
		const kpassing *p = &k->passings[i];
		c->count->claims++;
		c->count->joint += __builtin_popcount(p->inputs) > 1;
		for (int j = 0; j < CONTENTS; j++)
			try_parts(c, k, p, &r);
	}
}

/* ---- claims without shapes ---------------------------------------------- */

/* The input of the stage's kernel that a tensor is; -1 for none that is
 * read. */
static int input_of(const checking *c, int at, int tensor)
{
	const stage *st = &c->x->stages[at];
	for (int i = 0; i < st->kernel->ninputs; i++)
		if (st->inputs[i] == tensor && st->kernel->body &&
		    kernel_dependence(st->kernel, UINT32_C(1) << i).uses)
			return i;
	return -1;
}

/* The kernel's inputs that some tensors are, those that it reads. */
static uint32_t inputs_of(const checking *c, int at, const sym_passing *p)
{
	uint32_t all = 0;
	for (int i = 0; i < p->n; i++) {
		int input = input_of(c, at, p->tensors[i]);
		all |= input >= 0 ? UINT32_C(1) << input : 0;
	}
	return all;
}

static bool is_said(const checking *c, int at, const kpassing *p)
{
	const sym_stage *s = c->symbolic->stages[at];
	for (int i = 0; i < s->npassing; i++)
		if (s->passing[i].n == __builtin_popcount(p->inputs) &&
		    inputs_of(c, at, &s->passing[i]) == p->inputs &&
		    s->passing[i].by == p->by)
			return s->passing[i].to == p->to;
	return false;
}

/* A fact that holds for shapes holds without them where these decide nothing,
 * and where it is one of few inputs. */
static void count_said(checking *c, int at)
{
	const kernel *k = c->x->stages[at].kernel;
	for (int i = 0; i < k->npassings; i++) {
		const kpassing *p = &k->passings[i];
		bool said = is_said(c, at, p);
		bool few = __builtin_popcount(p->inputs) == 1 ||
			   k->ninputs <= SYM_MAX_TOGETHER;
		c->count->agreed += said;
		c->count->more += !said;
		if (!said && c->plain && few)
			differ(c, arena_printf(
				c->arena, "%s: only for shapes %s passes by %s"
				" as %s", c->symbolic->stages[at]->label,
				inputs_text(c->arena, k, p->inputs),
				reducer_name(p->by), reducer_name(p->to)));
	}
}

static void compare_stage(checking *c, int at)
{
	const sym_stage *s = c->symbolic->stages[at];
	const kernel *k = c->x->stages[at].kernel;
	for (int i = 0; i < s->npassing; i++) {
		const sym_passing *p = &s->passing[i];
		uint32_t inputs = inputs_of(c, at, p);
		if (inputs &&
		    !kernel_passes_partial(k, inputs, p->by, p->to))
			differ(c, arena_printf(
				c->arena, "%s: without shapes %s passes by %s"
				" as %s", s->label,
				inputs_text(c->arena, k, inputs),
				reducer_name(p->by), reducer_name(p->to)));
	}
	for (int i = 0; i < s->nlinear; i++) {
		int input = input_of(c, at, s->linear[i]);
		if (input >= 0 && !kernel_body_linear(k, UINT32_C(1) << input))
			differ(c, arena_printf(
				c->arena, "%s: without shapes it is linear in "
				"%s", s->label, k->inputs[input].name));
	}
	count_said(c, at);
}

/* Both number the parameters first and then the stages in order. */
static void check_symbolic_facts(checking *c)
{
	if (c->symbolic->open_because ||
	    c->symbolic->nstages != c->x->nstages)
		return;
	for (int i = 0; i < c->x->nstages; i++)
		if (!c->symbolic->stages[i]->open_because)
			compare_stage(c, i);
}

/* ---- one operator ------------------------------------------------------- */

static bool load(checking *c)
{
	arena *a = c->arena;
	diag_sink *sink = diag_sink_new(a);
	tensor_type types[MAX_PARAMS];
	const attr_value *attrs[4] = { NULL };
	c->modules = dsl_new(a, sink, NULL, 0);
	if (!dsl_load_text(c->modules, "random.tdl", c->o->text,
			   strlen(c->o->text)))
		return false;
	c->op = dsl_op(c->modules, "f");
	for (int i = 0; c->op && i < c->op->nparams; i++) {
		int at = param_named(c->o, c->op->params[i].name);
		types[i] = (tensor_type){ .type = c->o->params[at].type,
					  .ndim = c->o->params[at].ndim };
		memcpy(types[i].dims, c->o->params[at].dims,
		       sizeof(c->o->params[at].dims));
	}
	if (c->op)
		c->x = expand_op(a, c->modules, sink, c->op, types, attrs,
				 (call_site){ .place = "a test" });
	return c->op && c->x;
}

/* The difference that an operator shows; NULL for none. */
static const char *judged(arena *a, const random_operator *o, bool plain,
			  totals *count)
{
	int64_t effort = 200000;
	checking c = { .arena = a, .o = o, .count = count, .plain = plain };
	count->ops++;
	if (!load(&c)) {
		count->refused++;
		return NULL;
	}
	c.symbolic = symbolic_op(a, c.modules, c.op, &effort);
	check_truth(&c);
	check_symbolic_facts(&c);
	return c.why;
}

static bool still_differs(const random_operator *o, const void *context)
{
	arena *a = arena_new();
	totals none = { 0 };
	(void)context;
	bool differs = judged(a, o, false, &none);
	arena_free(a);
	return differs;
}

/* A smaller one may have constants, and so be plain no more. */
static void report(const random_operator *o, int64_t number, bool whole,
		   const char *why)
{
	arena *a = arena_new();
	totals none = { 0 };
	printf("operator %" PRId64 ": %s\n", number, why);
	if (whole || !judged(a, o, false, &none)) {
		printf("%s with N = %" PRId64 "\n\n", o->text,
		       o->params[0].dims[0]);
		arena_free(a);
		return;
	}
	random_operator small = shrink(a, o, still_differs, NULL);
	why = judged(a, &small, false, &none);
	printf("reduced: %s\n%s with N = %" PRId64 "\n\n", why, small.text,
	       small.params[0].dims[0]);
	fflush(stdout);
	arena_free(a);
}

/* ---- the command -------------------------------------------------------- */

typedef struct request {
	int64_t seed, from, count, print;
	bool whole, first;
} request;

static random_operator operator_of(arena *a, const request *r, int64_t number)
{
	rng x = { (uint64_t)r->seed * 0x9e3779b97f4a7c15u + (uint64_t)number };
	return random_facts_new(a, rng_next(&x));
}

/* Operators that have differed. */
static int64_t run_known(void)
{
	static const char *const known[] = {
		/* A product with 0 has a sign, where it divides. */
		"op f(x[N]: f64) -> out[N]: f64 =\n"
		"    lambda i: cast(i, f64) / (inf * cast(cast(false, bool), "
		"f64)) * x[0]\n",
		"op f(x[N]: f64) -> out[N]: f64 =\n"
		"    lambda i: cast(i, f64) / (if x[i] > 0.0 then exp(x[i]) * "
		"cast(cast(false, bool), f64) else 0.0) * x[0]\n",
	};
	int64_t differ = 0;
	totals t = { 0 };
	for (int i = 0; i < (int)(sizeof(known) / sizeof(*known)) * 3; i++) {
		arena *a = arena_new();
		random_operator o = { .text = known[i / 3], .nparams = 1 };
		o.params[0] = (random_param){ "x", DT_F64, 1, { i % 3 } };
		const char *why = judged(a, &o, false, &t);
		if (why || t.refused) {
			differ++;
			report(&o, -1, true, why ? why : "it is refused");
		}
		arena_free(a);
	}
	return differ;
}

static int run(const request *r)
{
	totals t = { 0 };
	int64_t differ = run_known();
	for (int64_t i = r->from; i < r->from + r->count &&
				  !(r->first && differ); i++) {
		arena *a = arena_new();
		random_operator o = operator_of(a, r, i);
		bool plain = random_facts_are_plain(o.seed);
		const char *why = judged(a, &o, plain, &t);
		if (why) {
			differ++;
			report(&o, i, r->whole, why);
		}
		arena_free(a);
	}
	printf("%" PRId64 " operators, %" PRId64 " refused; %" PRId64
	       " claims, %" PRId64 " joint, %" PRId64 " elements; without "
	       "shapes %" PRId64 " claims, %" PRId64 " fewer; %" PRId64
	       " differ\n", t.ops, t.refused, t.claims, t.joint, t.elements,
	       t.agreed, t.more, differ);
	bool idle = r->count >= 100 && !differ &&
		    (t.refused * 2 > t.ops || t.claims < t.ops / 2 ||
		     t.joint < t.claims / 50 ||
		     t.elements < t.claims || t.more * 4 > t.agreed);
	if (idle)
		puts("too little was compared");
	return differ || idle ? EXIT_FAILURE : EXIT_SUCCESS;
}

static bool read_options(request *r, int argc, char **argv)
{
	const struct {
		const char *name;
		int64_t *to;
	} options[] = {
		{ "--seed", &r->seed },	  { "--from", &r->from },
		{ "--count", &r->count }, { "--print", &r->print },
	};
	const int n = sizeof(options) / sizeof(*options);
	for (int i = 1; i < argc; i++) {
		int k = 0;
		while (k < n && strcmp(argv[i], options[k].name))
			k++;
		if (k < n && i + 1 < argc)
			*options[k].to = strtoll(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "--whole"))
			r->whole = true;
		else if (!strcmp(argv[i], "--first"))
			r->first = r->whole = true;
		else
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	request r = { .seed = 1, .count = 40000, .print = -1 };
	if (!read_options(&r, argc, argv)) {
		fputs("facts: the options are in tests/random/facts.c\n",
		      stderr);
		return 2;
	}
	if (r.print < 0)
		return run(&r);
	arena *a = arena_new();
	random_operator o = operator_of(a, &r, r.print);
	printf("%s with N = %" PRId64 "\n", o.text, o.params[0].dims[0]);
	arena_free(a);
	return EXIT_SUCCESS;
}
