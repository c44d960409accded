/* The generated kernels of many operators, compiled at once, against the
 * reference. */
#include "config.h"

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

static void judge_one(judgement *j, cpu_kernel **compiled, void *scratch)
{
	trial *t = &j->t;
	int n = t->x->nparams + t->x->nstages;
	view *values = ARENA_COPY(t->arena, t->values, n + 1);
	bool ran = true;
	for (int i = 0; i < t->x->nstages && ran; i++)
		ran = run(t, i, values, compiled[i], scratch);
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

void judge_compiled(judgement *const *all, int n)
{
	arena *a = arena_new();
	VEC(const char *) sources = { 0 };
	for (int i = 0; i < n; i++)
		for (int s = 0; s < all[i]->t.x->nstages; s++)
			vec_push(a, &sources,
				 codegen_c(a, all[i]->t.x->stages[s].kernel));
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
		first += all[i]->t.x->nstages;
	}
	free(scratch);
	if (library)
		cpu_close(library);
	arena_free(a);
}
