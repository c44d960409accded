/* The generated kernels of many operators, compiled at once, against the
 * reference. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/codegen/codegen.h"
#include "include/tdl/generated.h"
#include "runtime/cpu/build.h"
#include "tests/random/judge.h"

static tdl_block block_of(const view *v)
{
	tdl_block b = { .data = v->data };
	memcpy(b.origin, v->at.lo, sizeof(b.origin));
	memcpy(b.stride, v->stride, sizeof(b.stride));
	return b;
}

/* Runs one stage whole; false where an index is outside. */
static bool run(trial *t, int at, view *values, cpu_kernel *compiled,
		void *scratch)
{
	const stage *s = &t->x->stages[at];
	const kernel *k = s->kernel;
	tdl_block in[MAX_NINPUTS];
	tdl_args args = { .in = in, .scratch = scratch };
	box space = kernel_space(k);
	view *out = &values[t->x->nparams + at];
	memcpy(args.lo, space.lo, sizeof(args.lo));
	memcpy(args.hi, space.hi, sizeof(args.hi));
	for (int i = 0; i < k->ninputs; i++)
		in[i] = block_of(&values[s->inputs[i]]);
	*out = new_result(t->arena, k);
	args.out = block_of(out);
	return compiled(&args) == 0;
}

/* The input of stage `at' that is the stage before it; -1 for none, or for
 * several. */
static int input_before(const expansion *x, int at)
{
	const stage *s = &x->stages[at];
	int found = -1;
	for (int i = 0; at > 0 && i < s->kernel->ninputs; i++)
		if (s->inputs[i] == x->nparams + at - 1)
			found = found == -1 ? i : -2;
	return found < 0 ? -1 : found;
}

/* The source of the stage before and of this one at once; NULL. */
static const char *joined(arena *a, const expansion *x, int at)
{
	const next_kernel next = { x->stages[at].kernel, input_before(x, at) };
	return next.input < 0 ? NULL
			      : codegen_epilogue(a, x->stages[at - 1].kernel,
						 1, &next);
}

/* The bits of a NaN are nobody's. */
static bool same_numbers(dtype t, const void *x, const void *y, int64_t n)
{
	const size_t size = dtype_size(t);
	const char *a = x, *b = y;
	for (int64_t i = 0; i < n; i++)
		if (memcmp(a + (size_t)i * size, b + (size_t)i * size, size) &&
		    !(isnan(elem_get_f64(t, x, i)) &&
		      isnan(elem_get_f64(t, y, i))))
			return false;
	return true;
}

/* Whether a stage has the same bits if it is computed with the one before. */
static bool run_joined(trial *t, int at, const view *values,
		       cpu_kernel *compiled, void *scratch)
{
	const expansion *x = t->x;
	const stage *s = &x->stages[at], *before = s - 1;
	const view *apart = &values[x->nparams + at];
	tdl_block in[2 * MAX_NINPUTS];
	int n = 0;
	for (int i = 0; i < before->kernel->ninputs; i++)
		in[n++] = block_of(&values[before->inputs[i]]);
	for (int i = 0; i < s->kernel->ninputs; i++)
		if (i != input_before(x, at))
			in[n++] = block_of(&values[s->inputs[i]]);
	view out = new_result(t->arena, s->kernel);
	tdl_args args = { .in = in, .scratch = scratch,
			  .out = block_of(&out) };
	box space = kernel_space(before->kernel);
	memcpy(args.lo, space.lo, sizeof(args.lo));
	memcpy(args.hi, space.hi, sizeof(args.hi));
	return compiled(&args) == 0 &&
	       same_numbers(out.type, out.data, apart->data,
			    box_volume(&out.at));
}

static void judge_one(judgement *j, cpu_kernel **compiled, void *scratch)
{
	trial *t = &j->t;
	int n = t->x->nparams + t->x->nstages;
	view *values = ARENA_COPY(t->arena, t->values, n + 1);
	bool ran = true;
	for (int i = 0; i < t->x->nstages && ran; i++) {
		cpu_kernel *both = compiled[t->x->nstages + i];
		ran = run(t, i, values, compiled[i], scratch);
		if (!ran || !both || run_joined(t, i, values, both, scratch))
			continue;
		j->verdict = DIFFERS;
		j->why = "with the stage before it has other bits";
	}
	if (!ran && !j->right.doubtful) {
		j->verdict = DIFFERS;
		j->why = "compiled it reads outside a tensor";
	}
	agreement count = { 0 };
	for (int i = 0; i < j->right.nresults && ran; i++) {
		const char *why = differs_from(t->arena,
					       &values[t->x->results[i]],
					       &j->right.results[i], &count);
		if (!why)
			continue;
		j->verdict = DIFFERS;
		j->why = arena_printf(t->arena, "compiled, %s: %s",
				      t->v->op->results[i].name, why);
	}
}

typedef VEC(const char *) texts;

/* Of all stages, then of all with the ones before. */
static void add_sources(arena *a, texts *to, const expansion *x)
{
	for (int s = 0; s < x->nstages; s++)
		vec_push(a, to, codegen_c(a, x->stages[s].kernel));
	for (int s = 0; s < x->nstages; s++)
		vec_push(a, to, joined(a, x, s));
}

void judge_compiled(judgement *const *all, int n)
{
	arena *a = arena_new();
	texts sources = { 0 };
	for (int i = 0; i < n; i++)
		add_sources(a, &sources, all[i]->t.x);
	cpu_kernel **kernels = ARENA_ARRAY(a, cpu_kernel *, sources.n + 1);
	failure why = { 0 };
	void *library = cpu_build(sources.n, sources.at, kernels, NULL, &why);
	if (!library && n == 1)
		fprintf(stderr, "%s\n", why.text);
	void *scratch = aligned_alloc(64, TDL_SCRATCH);
	/* One at a time says which it is. */
	for (int i = 0; !library && n > 1 && i < n; i++)
		judge_compiled(all + i, 1);
	if (!library && n == 1) {
		all[0]->verdict = DIFFERS;
		all[0]->why = "its kernels do not compile";
	}
	for (int i = 0, first = 0; library && i < n; i++) {
		judge_one(all[i], kernels + first, scratch);
		first += 2 * all[i]->t.x->nstages;
	}
	free(scratch);
	if (library)
		cpu_close(library);
	arena_free(a);
}
