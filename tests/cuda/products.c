/* The products of plans that go to libraries: products NAME PLAN.. prints a row
 * of the table in docs/cuda.md for the first worker of the plans of one
 * model. */
#include "config.h"

#include <stdio.h>

#include "kernel/convolution.h"
#include "plan/gemm.h"

typedef enum fate { DIRECT, COPIED, ADDED, CONVOLVED, GENERATED, FATES } fate;

typedef struct tally {
	int n[FATES];
	double flop[FATES];
	int64_t nbytes; /* of copies, the most */
} tally;

/* A contraction has rows or columns; what is neither is no product. */
static bool is_product(arena *a, const kernel *k)
{
	contraction c;
	uint32_t outputs = (UINT32_C(1) << k->nout) - 1;
	return contraction_of(a, k, &c) &&
	       outputs & (c.of_left ^ c.of_right);
}

static fate fate_of_gemm(const gemm *g)
{
	if (g->nbytes > 0)
		return COPIED;
	for (int i = 0; i < g->ncalls; i++)
		if (g->calls[i].adds)
			return ADDED;
	return DIRECT;
}

/* *f says whether cuDNN has a call for it. */
static bool is_convolution(const bind_run *r, fate *f)
{
	const kernel *k = r->k;
	view inputs[MAX_NINPUTS], out;
	convolution c;
	conv_call call;
	if (!convolution_of(k, &c))
		return false;
	for (int i = 0; i < k->ninputs; i++)
		inputs[i] = view_dense(NULL, k->inputs[i].type, &r->at[i]);
	out = view_dense(NULL, k->type, &r->at[k->ninputs]);
	if (convolution_call(k, &c, &r->space, inputs, &out, &call))
		*f = CONVOLVED;
	return true;
}

static void count(arena *a, const bind_run *r, int64_t room, tally *t)
{
	const kernel *k = r->k;
	fate f = GENERATED;
	contraction c;
	gemm g;
	bool convolves = k->body && is_convolution(r, &f);
	if (!k->body || (!convolves && !is_product(a, k)))
		return;
	if (gemm_of_run(a, r, room, &c, &g)) {
		f = fate_of_gemm(&g);
		t->nbytes = g.nbytes > t->nbytes ? g.nbytes : t->nbytes;
	}
	t->n[f]++;
	t->flop[f] += (double)box_volume(&r->space) *
		      (double)kernel_flops_per_point(k);
}

static bool read_plan(const char *path, tally *t)
{
	arena *a = arena_new();
	diag_sink *s = diag_sink_new(a);
	plan *p = plan_read(a, s, path);
	for (int i = 0; p && i < p->ninstrs; i++) {
		arena *work = arena_new();
		bind_run r;
		if (p->program[i].op == PLAN_RUN) {
			r = bind_run_of(p, i, 0, 0);
			count(work, &r, p->copies_bytes, t);
		}
		arena_free(work);
	}
	arena_free(a);
	return p != NULL;
}

int main(int argc, char **argv)
{
	tally t = { 0 };
	double all = 0;
	for (int i = 2; i < argc; i++)
		if (!read_plan(argv[i], &t))
			return 1;
	for (int f = 0; f < FATES; f++)
		all += t.flop[f];
	printf("| `%s` | %d | %d | %d | %d | %d | %.2f %% | %.1f MB |\n",
	       argv[1], t.n[DIRECT], t.n[COPIED], t.n[ADDED], t.n[CONVOLVED],
	       t.n[GENERATED], 100 * (1 - t.flop[GENERATED] / all),
	       (double)t.nbytes / 1e6);
	return t.flop[GENERATED] > 0.02 * all;
}
