#include "config.h"

#include "compiler/lower/lower.h"

#include <assert.h>
#include <string.h>

#include "base/intern.h"
#include "base/vec.h"
#include "compiler/lower/constants.h"
#include "plan/place.h"
#include "plan/transfer.h"

/* Copies of a tensor that are looked at before one more is made. */
enum { MOST_COPIES = 64 };

typedef struct lowerer {
	arena *a, *tmp;
	const graph *g;
	plan *p;
	/* Hash table of 1 + a kernel's number; a power of two of slots. */
	int *kernels;
	size_t nslots;
	VEC(plan_buffer) buffers;
	VEC(plan_instr) program;
	/* Buffers in which a tensor was made available, besides the stored
	 * one: the last of each tensor, and the one before each buffer. */
	int *last_copy;
	VEC(int) before;
} lowerer;

/* ---- tables ------------------------------------------------------------ */

static void set_tensors(lowerer *l, const assignment *as)
{
	static const plan_role roles[] = {
		[TENSOR_INPUT] = PLAN_INPUT,
		[TENSOR_CONSTANT] = PLAN_CONSTANT,
		[TENSOR_STATE] = PLAN_STATE,
		[TENSOR_RESULT] = PLAN_RESULT,
	};
	plan *p = l->p;
	p->ntensors = l->g->ntensors;
	p->tensors = ARENA_ARRAY(l->a, plan_tensor, p->ntensors);
	l->last_copy = ARENA_ARRAY(l->tmp, int, p->ntensors);
	for (int i = 0; i < p->ntensors; i++) {
		const tensor *from = &l->g->tensors[i];
		plan_tensor *to = &p->tensors[i];
		l->last_copy[i] = -1;
		to->name = from->name;
		to->type = from->type.type;
		to->ndim = from->type.ndim;
		memcpy(to->dims, from->type.dims, sizeof(to->dims));
		to->role = roles[from->kind];
		to->output = from->output;
		to->cuts = as->tensor_cuts[i];
		to->next = from->kind == TENSOR_STATE ? from->next : -1;
		to->buffer = -1;
	}
	p->ninputs = l->g->ninputs;
	p->noutputs = l->g->noutputs;
	p->inputs = ARENA_COPY(l->a, l->g->inputs, p->ninputs);
	p->outputs = ARENA_COPY(l->a, l->g->outputs, p->noutputs);
	p->training = l->g->training;
	p->loss = l->g->training ? l->g->loss : -1;
	p->learning_rate = l->g->training ? l->g->learning_rate : -1;
}

static int *kernel_slot(lowerer *l, const kernel *k)
{
	uint64_t i = hash_bytes(HASH_SEED, &k, sizeof(k));
	for (;; i++) {
		int *slot = &l->kernels[i & (l->nslots - 1)];
		if (!*slot || l->p->kernels[*slot - 1].kernel == k)
			return slot;
	}
}

/* The number of a kernel among those so far; the graph shares equal ones. */
static int kernel_number(lowerer *l, const kernel *k, const lower_options *o)
{
	plan *p = l->p;
	int *slot = kernel_slot(l, k);
	if (*slot)
		return *slot - 1;
	p->kernels[p->nkernels].kernel = k;
	if (o->codegen)
		p->kernels[p->nkernels].c = o->codegen(l->a, k);
	*slot = ++p->nkernels;
	return *slot - 1;
}

static void set_nodes(lowerer *l, const assignment *as,
		      const lower_options *o)
{
	plan *p = l->p;
	p->nnodes = l->g->nnodes;
	p->nodes = ARENA_ARRAY(l->a, plan_node, p->nnodes);
	p->kernels = ARENA_ARRAY(l->a, plan_kernel, p->nnodes);
	l->nslots = 16;
	while (l->nslots < 2 * (size_t)p->nnodes)
		l->nslots *= 2;
	l->kernels = ARENA_ARRAY(l->tmp, int, l->nslots);
	for (int i = 0; i < p->nnodes; i++) {
		const node *n = &l->g->nodes[i];
		p->nodes[i] = (plan_node){
			.name = n->name,
			.op = n->op,
			.kernel = kernel_number(l, n->kernel, o),
			.cuts = as->node_cuts[i],
			.inputs = n->inputs,
			.output = n->output,
		};
	}
}

/* ---- the program ------------------------------------------------------- */

static int add_buffer(lowerer *l, plan_buffer b)
{
	b.nbytes = plan_buffer_nbytes(l->p, &b);
	vec_push(l->a, &l->buffers, b);
	vec_push(l->tmp, &l->before, -1);
	return l->buffers.n - 1;
}

static int stored(lowerer *l, int t)
{
	int *b = &l->p->tensors[t].buffer;
	if (*b < 0)
		*b = add_buffer(l, (plan_buffer){ .tensor = t,
						  .region = PLAN_STORED,
						  .node = -1 });
	return *b;
}

static void add_instr(lowerer *l, plan_instr in)
{
	vec_push(l->a, &l->program, in);
}

/* A buffer in which every worker has what a node reads of a tensor: where it
 * is stored, or one of the last copies that were made before, or a new one. */
static int source_of(lowerer *l, int n, int t)
{
	plan_buffer need = { .tensor = t, .region = PLAN_NEEDS,
			     .node = n };
	int from = stored(l, t);
	if (plan_covers(l->p, &l->buffers.at[from], &need))
		return from;
	int b = l->last_copy[t];
	for (int i = 0; b >= 0 && i < MOST_COPIES; b = l->before.at[b], i++)
		if (plan_covers(l->p, &l->buffers.at[b], &need))
			return b;
	int to = add_buffer(l, need);
	l->before.at[to] = l->last_copy[t];
	l->last_copy[t] = to;
	add_instr(l, (plan_instr){ .op = PLAN_MOVE, .node = -1, .from = from,
				   .to = to });
	return to;
}

/* The buffer of a formula on a node's result: where the result is stored, if
 * that is the same on every worker. */
static int result_buffer(lowerer *l, int n, plan_region_kind kind)
{
	int out = l->p->nodes[n].output;
	plan_buffer b = { .tensor = out, .region = kind, .node = n };
	int to = stored(l, out);
	if (plan_same_region(l->p, &l->buffers.at[to], &b))
		return to;
	return add_buffer(l, b);
}

static void add_run(lowerer *l, int n)
{
	const plan_node *x = &l->p->nodes[n];
	int ninputs = l->p->kernels[x->kernel].kernel->ninputs;
	int *inputs = ARENA_ARRAY(l->a, int, ninputs);
	for (int i = 0; i < ninputs; i++)
		inputs[i] = source_of(l, n, x->inputs[i]);
	plan_instr run = { .op = PLAN_RUN, .node = n, .inputs = inputs,
			   .from = -1 };
	bool partial = plan_partial(l->p, n, NULL) != RED_NONE;
	if (partial)
		run.to = add_buffer(l, (plan_buffer){ .tensor = x->output,
						      .region = PLAN_PRODUCES,
						      .node = n });
	else
		run.to = result_buffer(l, n, PLAN_PRODUCES);
	add_instr(l, run);
	int made = run.to;
	if (partial) {
		made = result_buffer(l, n, PLAN_OWN);
		add_instr(l, (plan_instr){ .op = PLAN_COMBINE, .node = n,
					   .from = run.to, .to = made });
	}
	int to = stored(l, x->output);
	if (made != to)
		add_instr(l, (plan_instr){ .op = PLAN_MOVE, .node = -1,
					   .from = made, .to = to });
}

static void set_program(lowerer *l)
{
	plan *p = l->p;
	for (int i = 0; i < p->ntensors; i++) {
		const plan_tensor *t = &p->tensors[i];
		if ((t->output && t->role != PLAN_RESULT) ||
		    t->role == PLAN_STATE)
			stored(l, i);
	}
	for (int n = 0; n < p->nnodes; n++)
		add_run(l, n);
	p->nbuffers = l->buffers.n;
	p->buffers = l->buffers.at;
	p->ninstrs = l->program.n;
	p->program = l->program.at;
	plan_update_states(l->a, p);
	for (int i = 0; i < p->ninstrs; i++)
		if (p->program[i].op != PLAN_RUN)
			p->program[i].collective =
				transfer_collective(p, &p->program[i]);
	p->communication_bytes = plan_communication(p);
}

/* Whether the plan is within the bounds that its readers keep to. */
static bool check_sizes(const plan *p, diag_sink *s)
{
	bool fits = p->arena_bytes <= PLAN_MAX_BYTES;
	for (int t = 0; t < p->ntensors; t++)
		fits &= plan_tensor_nbytes(&p->tensors[t]) <= PLAN_MAX_BYTES;
	for (int i = 0; i < p->nkernels; i++)
		for (int v = 0; v < p->kernels[i].kernel->nvars; v++)
			fits &= p->kernels[i].kernel->vars[v].extent <=
				PLAN_MAX_BYTES;
	if (!fits)
		diag_error_in(s, DIAG_MODEL_TOO_LARGE, p->model,
			      "a tensor, the memory of a worker or a range "
			      "that an operator runs over is larger than 2^46");
	return fits;
}

plan *lower_plan(arena *a, const graph *g, const assignment *as,
		 const lower_options *o, diag_sink *s)
{
	int64_t workers = 1;
	for (int i = 0; i < as->mesh.naxes; i++)
		workers *= as->mesh.size[i];
	assert(workers <= PLAN_MAX_WORKERS);
	lowerer l = { .a = a, .tmp = arena_new(), .g = g };
	l.p = ARENA_NEW(a, plan);
	l.p->model = g->name;
	l.p->algorithm = o->algorithm;
	l.p->mesh = as->mesh;
	set_tensors(&l, as);
	bool ok = lower_constants(g, l.p, o->checksums, s);
	if (ok) {
		set_nodes(&l, as, o);
		set_program(&l);
		plan_place(l.p);
		ok = check_sizes(l.p, s);
	}
	arena_free(l.tmp);
	return ok ? l.p : NULL;
}
