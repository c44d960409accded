#include "config.h"

#include "tests/fuzz/run.h"

#include <stdio.h>

#include "base/checked.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/invent.h"
#include "runtime/exec/verify.h"
#include "runtime/run/inputs.h"
#include "tests/fuzz/fuzz.h"

enum {
	MAX_WORKERS = 4,
	MAX_MEMORY = 1 << 20, /* bytes of arenas; of a tensor */
	MAX_POINTS = 20000,   /* of iteration, over all workers */
	MAX_TOTAL = 100000,   /* the same times the arithmetic of each */
};

/* The points of iteration of all runs, and the arithmetic at each. */
static bool takes_little_time(const plan *p)
{
	int64_t total = 0;
	for (int i = 0; i < p->ninstrs; i++) {
		const plan_instr *in = &p->program[i];
		if (in->op != PLAN_RUN)
			continue;
		const kernel *k =
			p->kernels[p->nodes[in->node].kernel].kernel;
		for (int w = 0; w < mesh_workers(&p->mesh); w++) {
			box space = plan_space(p, in, w);
			int64_t n = 1;
			for (int d = 0; d < space.n; d++)
				if (!ck_mul(n, space.hi[d] - space.lo[d], &n) ||
				    n > MAX_POINTS)
					return false;
			total += n * (1 + kernel_flops_per_point(k));
		}
	}
	return total <= MAX_TOTAL;
}

bool run_is_small(const plan *p)
{
	if (mesh_workers(&p->mesh) > MAX_WORKERS ||
	    p->arena_bytes > MAX_MEMORY)
		return false;
	for (int t = 0; t < p->ntensors; t++)
		if (plan_tensor_nbytes(&p->tensors[t]) > MAX_MEMORY)
			return false;
	return takes_little_time(p);
}

static bool step(const plan *p, const array *inputs, const array *outputs,
		 failure *f)
{
	const backend_options o = { .kernels = KERNELS_INTERPRETER };
	arena *a = arena_new();
	executor *m = executor_open(pipeline_of_plan(a, p), "fuzz.plan",
				    backend_row(0), comm_row(0, true), NULL, &o,
				    f);
	bool good = m && executor_step(m, inputs, outputs, f);
	FUZZ_CHECK(good || f->status != CLI_OK);
	if (m)
		executor_close(m);
	arena_free(a);
	return good;
}

/* Runs p, and q where it is given, on the same inputs. */
static void run(const plan *p, const plan *q)
{
	arena *a = arena_new();
	failure f = { 0 }, g = { 0 };
	array *in = arrays_of(a, p, p->inputs, p->ninputs, &f);
	array *out = arrays_of(a, p, p->outputs, p->noutputs, &f);
	array *want = arrays_of(a, p, p->outputs, p->noutputs, &f);
	if (in && out && want) {
		invent_inputs(p, in);
		bool good = step(p, in, out, &f);
		if (q) {
			bool whole = step(q, in, want, &g);
			if (good != whole)
				fprintf(stderr, "%s%s\n", f.text, g.text);
			FUZZ_CHECK(good == whole);
			if (good)
				FUZZ_CHECK(verify_outputs(p, out, want).exact);
		}
	}
	if (in)
		arrays_free(in, p->ninputs);
	if (out)
		arrays_free(out, p->noutputs);
	if (want)
		arrays_free(want, p->noutputs);
	arena_free(a);
}

void run_plan(const plan *p)
{
	run(p, NULL);
}

static bool combines(const plan *p)
{
	for (int i = 0; i < p->ninstrs; i++)
		if (p->program[i].op == PLAN_COMBINE)
			return true;
	return false;
}

void run_both(const plan *p)
{
	arena *a = arena_new();
	run(p, combines(p) ? NULL : plan_one_device(a, p));
	arena_free(a);
}
