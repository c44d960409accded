/* The time of applying one strategy to numbers: of computing the parts of the
 * inputs that are read, and the part of the result that is made, when a
 * variable is divided.
 *
 *	strategies FILE.tdl... [MODEL.onnx...]
 *
 * From the operators' descriptors, for all strategies of the .tdl files; and as
 * the planners do it, from the kernels of the models. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/file.h"
#include "compiler/analysis/descriptor.h"
#include "compiler/analysis/strategy.h"
#include "compiler/graph/graph.h"
#include "compiler/onnx/onnx.h"

enum { RUNS = 15, SIZE = 64 };
static const double LEAST = 0.02; /* seconds of one run */

/* Of this process alone: the machine may have other things to do. */
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- measurements ------------------------------------------------------- */

typedef struct desc_case {
	const desc_op *op;
	const desc_stage *stage;
	const desc_strategy *strategy;
	int64_t *values;
} desc_case;

typedef struct kernel_case {
	const kernel *kernel;
	box part;
} kernel_case;

typedef struct cases {
	arena *arena;
	VEC(desc_case) descs;
	VEC(kernel_case) kernels;
	int64_t seen; /* so that the compiler drops nothing */
} cases;

static void run_descs(cases *c)
{
	box needs[MAX_NINPUTS];
	for (int i = 0; i < c->descs.n; i++) {
		const desc_case *x = &c->descs.at[i];
		c->seen += descriptor_needs(x->op, x->stage, x->strategy,
					    x->values, SIZE / 4, SIZE / 2,
					    needs);
	}
}

static void run_kernels(cases *c)
{
	box needs[MAX_NINPUTS];
	for (int i = 0; i < c->kernels.n; i++) {
		const kernel_case *x = &c->kernels.at[i];
		kernel_needs(x->kernel, &x->part, needs);
		box made = kernel_produces(x->kernel, &x->part);
		c->seen += made.n + needs[0].n;
	}
}

static int ascending(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;
	return (a > b) - (a < b);
}

/* The median over RUNS of the time that one of n cases takes. */
static void measure(cases *c, const char *what, void (*run)(cases *), int n)
{
	double seconds[RUNS];
	int times = 1;
	if (n == 0)
		return;
	for (double began = now(); now() - began < LEAST; times++)
		run(c);
	for (int r = 0; r < RUNS; r++) {
		double began = now();
		for (int i = 0; i < times; i++)
			run(c);
		seconds[r] = (now() - began) / times / n;
	}
	qsort(seconds, RUNS, sizeof(seconds[0]), ascending);
	printf("%-44s %8.0f ns  (%d strategies)\n", what,
	       seconds[RUNS / 2] * 1e9, n);
}

/* ---- cases -------------------------------------------------------------- */

/* Every size is SIZE, every attribute 1. */
static int64_t *values_of(arena *a, const poly_space *s)
{
	int64_t *values = ARENA_ARRAY(a, int64_t, s->natoms);
	for (int i = 0; i < s->natoms; i++)
		values[i] = s->atoms[i].kind == ATOM_SIZE ? SIZE : 1;
	return values;
}

static void add_descs(cases *c, const desc_op *op)
{
	box needs[MAX_NINPUTS];
	int64_t *values = values_of(c->arena, op->space);
	for (int s = 0; s < op->nstages; s++) {
		const desc_stage *st = &op->stages[s];
		for (int i = 0; i < st->nstrategies; i++) {
			desc_case x = { op, st, &st->strategies[i], values };
			if (st->ninputs <= MAX_NINPUTS &&
			    descriptor_needs(op, st, x.strategy, values, 0, 1,
					     needs))
				vec_push(c->arena, &c->descs, x);
		}
	}
}

static void add_kernels(cases *c, const graph *g)
{
	for (node_id n = 0; n < g->nnodes; n++) {
		const kernel *k = g->nodes[n].kernel;
		for (int v = 0; v < k->nvars; v++) {
			kernel_case x = { k, kernel_space(k) };
			if (!strategy_offered(k, v, NULL))
				continue;
			x.part.hi[v] = (x.part.hi[v] + 1) / 2;
			vec_push(c->arena, &c->kernels, x);
		}
	}
}

int main(int argc, char **argv)
{
	arena *a = arena_new();
	cases c = { .arena = a };
	diag_sink *sink = diag_sink_new(a);
	tdl_modules *m = dsl_new(a, sink, NULL, 0);
	for (int i = 1; i < argc; i++)
		if (path_ends_in(argv[i], ".tdl"))
			dsl_load(m, argv[i]);
	for (int i = 0; i < strmap_count(m->ops); i++)
		add_descs(&c, descriptor_of(a, m, strmap_value(m->ops, i)));
	for (int i = 1; i < argc; i++) {
		model_options o = { 0 };
		graph *g = path_ends_in(argv[i], ".tdl")
				   ? NULL
				   : onnx_import(a, m, sink, argv[i], &o);
		if (g)
			add_kernels(&c, g);
	}
	diag_print(sink, stderr, false);
	measure(&c, "a strategy of a descriptor, with numbers", run_descs,
		c.descs.n);
	measure(&c, "a strategy of a node, as planned", run_kernels,
		c.kernels.n);
	arena_free(a);
	return diag_errors(sink) > 0;
}
