/* The library products that the runs of a plan are. */
#include "config.h"

#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "kernel/convolution.h"
#include "plan/gemm.h"

/* Whether most of x is not read: a single tap, with strides. */
static bool is_sparse(const kernel *k, const convolution *c)
{
	bool strides = false;
	for (int i = 0; i < c->nspatial; i++) {
		if (k->vars[c->axes[i].tap].extent != 1)
			return false;
		strides = strides || c->axes[i].stride > 1;
	}
	return strides;
}

bool gemm_of_run(arena *a, const bind_run *r, int64_t room, contraction *c,
		 gemm *g)
{
	const gemm_limits most = { GEMM_FLOP_PER_BYTE, room };
	const kernel *k = r->k;
	view inputs[MAX_NINPUTS], out;
	convolution other;
	if (!contraction_of(a, k, c))
		return false;
	for (int i = 0; i < k->ninputs; i++)
		inputs[i] = view_dense(NULL, k->inputs[i].type, &r->at[i]);
	out = view_dense(NULL, k->type, &r->at[k->ninputs]);
	return gemm_of(a, k, c, &r->space, inputs, &out, &most, g) &&
	       (g->nbytes == 0 || !convolution_of(k, &other) ||
		is_sparse(k, &other));
}

typedef VEC(int64_t) ints;

/* A plan's runs; equal ones are looked at once. */
typedef struct plan_runs {
	arena *a;
	const plan *p;
	bool *multiplies; /* of each kernel */
	hash_table seen;
	VEC(ints) keys; /* keys of the rows of `seen' */
	ints key;	/* of the current run */
} plan_runs;

static void put_box(arena *a, ints *key, const box *b)
{
	for (int d = 0; d < b->n; d++) {
		vec_push(a, key, b->lo[d]);
		vec_push(a, key, b->hi[d]);
	}
}

/* Writes everything that gemm_of_run() looks at to the key, which is empty
 * before. */
static void put_run(plan_runs *x, const plan_instr *in, int worker, ints *key)
{
	const plan *p = x->p;
	int k = p->nodes[in->node].kernel, n = p->kernels[k].kernel->ninputs;
	box space = plan_space(p, in, worker);
	vec_push(x->a, key, k);
	put_box(x->a, key, &space);
	for (int i = 0; i <= n; i++) {
		region r = plan_region(p, i < n ? in->inputs[i] : in->to,
				       worker);
		put_box(x->a, key, &r.at);
	}
}

/* Whether the key is new; if so it is kept. */
static bool is_new(plan_runs *x, const ints *key)
{
	size_t n = (size_t)key->n;
	uint64_t hash = hash_words(HASH_SEED, (const uint64_t *)key->at, n);
	uint32_t at = 0;
	for (int i; (i = hash_table_next(&x->seen, hash, &at)) >= 0;)
		if (x->keys.at[i].n == key->n &&
		    !memcmp(x->keys.at[i].at, key->at, n * sizeof(*key->at)))
			return false;
	hash_table_add(x->a, &x->seen, hash, x->keys.n);
	vec_push(x->a, &x->keys, *key);
	return true;
}

/* Bytes of copies of a worker's run, if it is new; else 0. */
static int64_t bytes_of_run(plan_runs *x, int instr, int worker, int64_t room)
{
	x->key.n = 0;
	put_run(x, &x->p->program[instr], worker, &x->key);
	if (!is_new(x, &x->key))
		return 0;
	x->key = (ints){ 0 };
	arena *a = arena_new();
	bind_run r = bind_run_of(x->p, instr, worker, 0);
	contraction c;
	gemm g;
	int64_t n = gemm_of_run(a, &r, room, &c, &g) ? g.nbytes : 0;
	arena_free(a);
	return n;
}

int64_t gemm_plan_bytes(const plan *p, int64_t room)
{
	enum { SAMPLE = 4 };
	plan_runs x = { .a = arena_new() };
	int all = mesh_workers(&p->mesh), n = all < SAMPLE ? all : SAMPLE;
	int64_t most = 0;
	contraction c;
	/* Turns have at most two sizes: the first one's and the last's. */
	x.p = p = plan_unroll(x.a, p, 2);
	x.multiplies = ARENA_ARRAY(x.a, bool, p->nkernels);
	for (int i = 0; i < p->nkernels; i++)
		x.multiplies[i] = contraction_of(x.a, p->kernels[i].kernel, &c);
	for (int i = 0; i < p->ninstrs; i++) {
		const plan_instr *in = &p->program[i];
		if (in->op != PLAN_RUN ||
		    !x.multiplies[p->nodes[in->node].kernel])
			continue;
		for (int w = 0; w < n; w++) {
			int worker = n < 2 ? 0 : w * (all - 1) / (n - 1);
			int64_t bytes = bytes_of_run(&x, i, worker, room);
			most = bytes > most ? bytes : most;
		}
	}
	arena_free(x.a);
	return most;
}
