#include "config.h"

#include "compiler/lower/lower.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "compiler/lower/accumulate.h"
#include "compiler/lower/constants.h"
#include "compiler/lower/fuse.h"
#include "compiler/lower/program.h"

struct lowering {
	outline *outline;
};

typedef struct lowerer {
	arena *a, *tmp;
	const graph *g;
	plan *p;
	const int *then;      /* by tensor, as in accumulate_turns(); NULL */
	hash_table by_kernel; /* of p->kernels */
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
	for (int i = 0; i < p->ntensors; i++) {
		const tensor *from = &l->g->tensors[i];
		plan_tensor *to = &p->tensors[i];
		to->name = from->name;
		to->type = from->type.type;
		to->ndim = from->type.ndim;
		memcpy(to->dims, from->type.dims, sizeof(to->dims));
		to->role = roles[from->kind];
		to->output = from->output;
		to->cuts = as->tensor_cuts[i];
		to->next = from->kind == TENSOR_STATE ? from->next : -1;
		to->buffer = to->then = -1;
		to->time = CUT_NONE;
		if (l->then) {
			to->time = l->g->turns->cut[i];
			to->then = l->then[i];
		}
	}
	p->ninputs = l->g->ninputs;
	p->noutputs = l->g->noutputs;
	p->inputs = ARENA_COPY(l->a, l->g->inputs, p->ninputs);
	p->outputs = ARENA_COPY(l->a, l->g->outputs, p->noutputs);
	p->nfixed = l->g->nfixed;
	p->fixed = l->g->fixed;
	p->training = l->g->training;
	p->loss = l->g->training ? l->g->loss : -1;
	p->learning_rate = l->g->training ? l->g->learning_rate : -1;
	p->loss_scale = l->g->training ? l->g->loss_scale : -1;
	p->length = l->g->length;
	p->position = p->length > 0 ? l->g->position : -1;
}

/* The number of a kernel in the plan, added if it is new.  The graph shares
 * equal kernels. */
static int kernel_number(lowerer *l, const kernel *k, const lower_options *o)
{
	plan *p = l->p;
	uint64_t hash = hash_bytes(HASH_SEED, &k, sizeof(k));
	uint32_t at = 0;
	for (int i; (i = hash_table_next(&l->by_kernel, hash, &at)) >= 0;)
		if (p->kernels[i].kernel == k)
			return i;
	p->kernels[p->nkernels].kernel = k;
	if (o->codegen)
		o->codegen(l->a, &p->kernels[p->nkernels]);
	hash_table_add(l->tmp, &l->by_kernel, hash, p->nkernels);
	return p->nkernels++;
}

static void set_nodes(lowerer *l, const assignment *as,
		      const lower_options *o)
{
	plan *p = l->p;
	p->nnodes = l->g->nnodes;
	p->nodes = ARENA_ARRAY(l->a, plan_node, p->nnodes);
	p->kernels = ARENA_ARRAY(l->a, plan_kernel, p->nnodes);
	for (int i = 0; i < p->nnodes; i++) {
		const node *n = &l->g->nodes[i];
		p->nodes[i] = (plan_node){
			.name = n->name,
			.op = n->op,
			.kernel = kernel_number(l, n->kernel, o),
			.cuts = as->node_cuts[i],
			.inputs = n->inputs,
			.output = n->output,
			.time = l->then ? l->g->turns->divided[i] : CUT_NONE,
		};
	}
}

plan *lower_completed(arena *a, const plan *p,
		      void (*codegen)(arena *a, plan_kernel *k),
		      diag_sink *s)
{
	plan *whole = ARENA_COPY(a, p, 1);
	whole->tensors = ARENA_COPY(a, p->tensors, p->ntensors);
	whole->kernels = ARENA_COPY(a, p->kernels, p->nkernels);
	if (!lower_checksums(whole, s))
		return NULL;
	for (int i = 0; i < p->nkernels; i++)
		codegen(a, &whole->kernels[i]);
	return whole;
}

lowering *lowering_new(arena *a, const graph *whole, const assignment *chosen,
		       const lower_options *o, diag_sink *s)
{
	assignment own = *chosen, *as = &own;
	if (whole->whole)
		whole = whole->whole;
	const graph *g = o->separate ? whole : fuse_graph(a, whole, as);
	const int *then = NULL;
	if (g->turns)
		g = accumulate_turns(a, g, as, &then);
	int64_t workers = 1;
	for (int i = 0; i < as->mesh.naxes; i++)
		workers *= as->mesh.size[i];
	assert(workers <= MESH_MAX_WORKERS);
	lowerer l = { .a = a, .tmp = arena_new(), .g = g, .then = then };
	l.p = ARENA_NEW(a, plan);
	l.p->model = g->name;
	l.p->algorithm = o->algorithm;
	l.p->mesh = as->mesh;
	if (g->turns)
		l.p->loop = (plan_loop){ .turns = g->turns->turns,
					 .batch = g->turns->batch,
					 .statistics = g->turns->statistics };
	set_tensors(&l, as);
	bool ok = lower_constants(a, g, l.p, o->checksums, s);
	if (ok)
		set_nodes(&l, as, o);
	arena_free(l.tmp);
	if (!ok)
		return NULL;
	lowering *x = ARENA_NEW(a, lowering);
	x->outline = outline_new(a, l.p, g->turns ? g->turns->sections : NULL);
	return x;
}

layout_classes *lowering_classes(const lowering *l)
{
	return l->outline->classes;
}

/* ---- programs ---------------------------------------------------------- */

static const int *order_of(lowering *l, lower_schedule by)
{
	return by.overlapping ? program_order_overlapping(l->outline, by.order)
			      : program_order(l->outline, by.order);
}

bool lowering_same_order(lowering *l, lower_schedule x, lower_schedule y)
{
	size_t n = (size_t)l->outline->p->nnodes;
	return x.overlapping == y.overlapping &&
	       !memcmp(order_of(l, x), order_of(l, y), n * sizeof(int));
}

plan *lowering_draft(arena *a, lowering *l, lower_choice which,
		     lower_rooms *rooms)
{
	return program_make(a, l->outline, which.memory, which.schedule,
			    rooms);
}

/* If gaps make a plan exceed the limit, the next attempt reserves as many
 * bytes. */
plan *lowering_place(arena *a, lowering *l, lower_choice which, plan *p,
		     lower_rooms *rooms)
{
	enum { MOST_TRIES = 4 };
	const int64_t memory = which.memory;
	for (int tries = 1;; tries++) {
		plan_place_with(p, lowering_classes(l));
		int64_t more = p->arena_bytes - memory, use = which.memory;
		if (memory == 0 || use == 1 || more <= 0)
			return p;
		which.memory = tries < MOST_TRIES && use > more ? use - more
								: 1;
		p = lowering_draft(a, l, which, rooms);
	}
}

/* Whether what all plans of a model contain is within the limits. */
static bool model_fits(const plan *p)
{
	bool fits = true;
	for (int t = 0; t < p->ntensors; t++)
		fits &= plan_tensor_nbytes(&p->tensors[t]) <= PLAN_MAX_BYTES;
	for (int i = 0; i < p->nkernels; i++)
		for (int v = 0; v < p->kernels[i].kernel->nvars; v++)
			fits &= p->kernels[i].kernel->vars[v].extent <=
				PLAN_MAX_BYTES;
	return fits;
}

static bool say_unless(bool fits, const plan *p, diag_sink *s)
{
	if (!fits)
		diag_error_in(s, DIAG_MODEL_TOO_LARGE, p->model,
			      "a tensor, the memory of a worker or a range "
			      "that an operator runs over is larger than 2^46");
	return fits;
}

bool lowering_check_model(const plan *p, diag_sink *s)
{
	return say_unless(model_fits(p), p, s);
}

bool lowering_check(const plan *p, diag_sink *s)
{
	return say_unless(model_fits(p) && p->arena_bytes <= PLAN_MAX_BYTES, p,
			  s);
}

plan *lower_plan(arena *a, const graph *g, const assignment *as,
		 const lower_options *o, diag_sink *s)
{
	lower_rooms rooms;
	lowering *l = lowering_new(a, g, as, o, s);
	if (!l)
		return NULL;
	const lower_choice which = { o->memory, o->schedule };
	plan *p = lowering_draft(a, l, which, &rooms);
	p = lowering_place(a, l, which, p, &rooms);
	if (o->rooms)
		*o->rooms = rooms;
	if (o->classes)
		*o->classes = lowering_classes(l);
	return lowering_check(p, s) ? p : NULL;
}

bool lower_is_same(const lower_rooms *rooms, int64_t held, int64_t memory)
{
	if (rooms->all < 0)
		return false;
	if (memory == 0)
		return rooms->all <= rooms->usual;
	if (memory == 1)
		return rooms->all <= rooms->least;
	return rooms->all <= memory && held <= memory;
}
