#include "config.h"

#include "tests/unit/random_pipeline.h"

#include <check.h>
#include <string.h>

#include "base/hash.h"
#include "base/intern.h"
#include "compiler/lower/stage_recompute.h"
#include "compiler/lower/stage_ties.h"
#include "kernel/linearity.h"

/* No batch divides the width: it would pass for one. */
enum { MOST = 200, WIDTH = 11 };

typedef struct maker {
	arena *a;
	rng *r;
	graph *g;
	int64_t batch;
	int part;       /* of the nodes that are made, as stage_part_of() */
	node_id layer;  /* what they are the backward pass of; NONE */
	plan_pass pass; /* theirs */
	int of[MOST];   /* by node */
	plan_pass passes[MOST];
} maker;

/* ---- nodes ------------------------------------------------------------- */

static tensor_id tensor_new(maker *m, const char *what, tensor_kind kind,
			    int ndim, const int64_t *dims)
{
	graph *g = m->g;
	tensor *t = &g->tensors[g->ntensors];
	ck_assert_int_lt(g->ntensors, MOST);
	t->name = arena_printf(m->a, "%s%d", what, g->ntensors);
	t->kind = kind;
	t->type.type = DT_F32;
	t->type.ndim = ndim;
	memcpy(t->type.dims, dims, (size_t)ndim * sizeof(*dims));
	t->producer = t->next = t->gradient_of = NONE;
	if (kind == TENSOR_INPUT)
		g->inputs[g->ninputs++] = g->ntensors;
	return g->ntensors++;
}

static kernel *kernel_new(maker *m, const char *name, int nout, int nvars,
			  const int64_t *extents)
{
	static const char *const names[] = { "i", "j", "k" };
	kernel *k = ARENA_NEW(m->a, kernel);
	k->name = name;
	k->nout = nout;
	k->nvars = nvars;
	k->type = DT_F32;
	k->vars = ARENA_ARRAY(m->a, kvar, nvars);
	k->reducer = nvars > nout ? RED_SUM : RED_NONE;
	k->inputs = ARENA_ARRAY(m->a, kinput, MAX_NINPUTS);
	for (int v = 0; v < nvars; v++)
		k->vars[v] = (kvar){ .name = names[v],
				     .kind = v < nout ? KVAR_OUTPUT
						      : KVAR_REDUCE,
				     .extent = extents[v] };
	return k;
}

/* An element of another input, at two variables, at none. */
static kexpr *read_at(maker *m, kernel *k, tensor_id t, int i, int j)
{
	const tensor *x = &m->g->tensors[t];
	kinput *in = &k->inputs[k->ninputs];
	kexpr *at[] = { kx_var(m->a, i), kx_var(m->a, j) };
	*in = (kinput){ .name = x->name, .type = DT_F32, .ndim = x->type.ndim };
	memcpy(in->dims, x->type.dims, sizeof(in->dims));
	return kx_read(m->a, k->ninputs++, DT_F32, x->type.ndim,
		       x->type.ndim ? at : NULL, NULL);
}

static tensor_id node_new(maker *m, kernel *k, const tensor_id *inputs)
{
	graph *g = m->g;
	int64_t dims[MAX_NDIM];
	kernel_derive(m->a, k);
	kernel_finish(m->a, k);
	for (int d = 0; d < k->nout; d++)
		dims[d] = kernel_dim(k, d);
	node *n = &g->nodes[g->nnodes];
	*n = (node){ .name = arena_printf(m->a, "%s_%d", k->name, g->nnodes),
		     .op = k->name,
		     .kernel = k,
		     .inputs = ARENA_COPY(m->a, inputs, k->ninputs),
		     .forward = m->layer,
		     .step = -1,
		     .cell = -1 };
	m->of[g->nnodes] = m->part;
	m->passes[g->nnodes] = m->pass;
	n->output = tensor_new(m, "r", TENSOR_RESULT, k->nout, dims);
	g->tensors[n->output].producer = g->nnodes++;
	return n->output;
}

/* x times w, or x times w transposed, or x transposed times w. */
static tensor_id product(maker *m, tensor_id x, tensor_id w, int how)
{
	const int64_t *a = m->g->tensors[x].type.dims;
	const int64_t *b = m->g->tensors[w].type.dims;
	int64_t extents[] = { a[how == 2], b[how != 1], a[how != 2] };
	if (how == 1)
		extents[1] = b[0];
	kernel *k = kernel_new(m, "matmul", 2, 3, extents);
	kexpr *left = how == 2 ? read_at(m, k, x, 2, 0)
			       : read_at(m, k, x, 0, 2);
	kexpr *right = how == 1 ? read_at(m, k, w, 1, 2)
				: read_at(m, k, w, 2, 1);
	k->body = kx_fn2(m->a, FN_MUL, left, right);
	return node_new(m, k, (tensor_id[]){ x, w });
}

static tensor_id sum(maker *m, tensor_id x, tensor_id y, fn f)
{
	kernel *k = kernel_new(m, "sum", 2, 2, m->g->tensors[x].type.dims);
	kexpr *left = read_at(m, k, x, 0, 1), *right = read_at(m, k, y, 0, 1);
	k->body = kx_fn2(m->a, f, left, right);
	return node_new(m, k, (tensor_id[]){ x, y });
}

static tensor_id shrink(maker *m, tensor_id x)
{
	kernel *k = kernel_new(m, "shrink", 2, 2, m->g->tensors[x].type.dims);
	k->body = kx_fn2(m->a, FN_FMOD, read_at(m, k, x, 0, 1),
			 kx_float(m->a, 7, DT_F32));
	return node_new(m, k, &x);
}

/* The sum of a matrix, or of its elements' remainders, which takes the whole
 * matrix. */
static tensor_id total(maker *m, tensor_id x, bool whole)
{
	kernel *k = kernel_new(m, "total", 0, 2, m->g->tensors[x].type.dims);
	k->body = read_at(m, k, x, 0, 1);
	if (whole)
		k->body = kx_fn2(m->a, FN_FMOD, k->body,
				 kx_float(m->a, 3, DT_F32));
	return node_new(m, k, &x);
}

static void update(maker *m, tensor_id state, tensor_id by, tensor_id norm)
{
	kernel *k = kernel_new(m, "update", 2, 2,
			       m->g->tensors[state].type.dims);
	tensor_id in[] = { state, by, norm };
	kexpr *old = read_at(m, k, state, 0, 1);
	kexpr *change = read_at(m, k, by, 0, 1);
	if (norm != NONE)
		change = kx_fn2(m->a, FN_ADD, change,
				read_at(m, k, norm, 0, 0));
	k->body = kx_fn2(m->a, FN_FMOD, kx_fn2(m->a, FN_SUB, old, change),
			 kx_float(m->a, 7, DT_F32));
	m->g->tensors[state].next = node_new(m, k, in);
}

/* ---- layers ------------------------------------------------------------ */

enum { MOST_LAYERS = 7 };

typedef struct layers {
	int n, part[MOST_LAYERS];
	node_id first[MOST_LAYERS]; /* of a layer's nodes */
	/* The tensors that a layer reads, computes, and adds; its weight. */
	tensor_id in[MOST_LAYERS], out[MOST_LAYERS], skip[MOST_LAYERS];
	tensor_id weight[MOST_LAYERS];
	tensor_id gradient[MOST_LAYERS]; /* of the weight */
} layers;

static tensor_id weight_new(maker *m)
{
	const int64_t dims[] = { WIDTH, WIDTH };
	tensor_id t = tensor_new(m, "w", TENSOR_STATE, 2, dims);
	float *data = ARENA_ARRAY(m->a, float, WIDTH *WIDTH);
	for (int i = 0; i < WIDTH * WIDTH; i++)
		data[i] = (float)(rng_below(m->r, 5) - 2);
	m->g->tensors[t].constant.data = data;
	m->g->tensors[t].parameter = true;
	return t;
}

static tensor_id forward(maker *m, layers *l, tensor_id x)
{
	for (int i = 0; i < l->n; i++) {
		m->part = l->part[i];
		bool tied = i > 0 && rng_below(m->r, 4) == 0;
		l->weight[i] = tied ? l->weight[rng_below(m->r, i)]
				    : weight_new(m);
		l->in[i] = x;
		l->skip[i] = i > 0 && rng_below(m->r, 2)
				     ? l->out[rng_below(m->r, i)]
				     : NONE;
		l->first[i] = m->g->nnodes;
		x = shrink(m, product(m, x, l->weight[i], 0));
		if (l->skip[i] != NONE)
			x = sum(m, x, l->skip[i], FN_MAX);
		l->out[i] = x;
	}
	return x;
}

static bool is_tied(const layers *l, int i)
{
	int n = 0;
	for (int j = 0; j < l->n; j++)
		n += l->weight[j] == l->weight[i];
	return n > 1;
}

/* The gradient of a layer's weight, with that of those behind it. */
static tensor_id gradient_of(maker *m, const layers *l, int i, tensor_id d)
{
	m->pass = is_tied(l, i) ? PASS_BACKWARD : PASS_WEIGHT;
	tensor_id own = product(m, l->in[i], d, 2);
	m->g->tensors[own].gradient_of = l->weight[i];
	for (int j = i + 1; j < l->n; j++)
		if (l->weight[j] == l->weight[i])
			return sum(m, own, l->gradient[j], FN_ADD);
	return own;
}

static void backward(maker *m, layers *l, tensor_id d)
{
	for (int i = l->n; i-- > 0;) {
		m->part = l->part[i];
		m->layer = l->first[i];
		l->gradient[i] = gradient_of(m, l, i, d);
		m->pass = PASS_BACKWARD;
		d = shrink(m, product(m, d, l->weight[i], 1));
		if (rng_below(m->r, 2))
			d = sum(m, d, l->in[i], FN_MIN);
		m->g->tensors[d].gradient_of = l->in[i];
	}
	m->layer = NONE;
}

/* The sum of all gradients' sums, in either direction. */
static tensor_id norm_of(maker *m, const layers *l)
{
	tensor_id all = NONE;
	bool down = rng_below(m->r, 2);
	for (int k = 0; k < l->n; k++) {
		int i = down ? l->n - 1 - k : k;
		m->part = l->part[i];
		tensor_id own = total(m, l->gradient[i], true);
		if (all == NONE) {
			all = own;
			continue;
		}
		kernel *sum_of = kernel_new(m, "add", 0, 0, NULL);
		kexpr *x = read_at(m, sum_of, all, 0, 0);
		sum_of->body = kx_fn2(m->a, FN_ADD, x,
				      read_at(m, sum_of, own, 0, 0));
		all = node_new(m, sum_of, (tensor_id[]){ all, own });
	}
	return all;
}

/* Each weight's gradient is complete in its first layer. */
static void updates(maker *m, const layers *l)
{
	tensor_id norm = rng_below(m->r, 2) ? norm_of(m, l) : NONE;
	for (int i = 0; i < l->n; i++) {
		m->part = l->part[i];
		if (m->g->tensors[l->weight[i]].next == NONE)
			update(m, l->weight[i], l->gradient[i], norm);
	}
}

static void set_output(graph *g, tensor_id t)
{
	if (g->tensors[t].output)
		return;
	g->tensors[t].output = true;
	g->outputs[g->noutputs++] = t;
}

static maker maker_new(arena *a, rng *r)
{
	graph *g = ARENA_NEW(a, graph);
	g->name = "random";
	g->tensors = ARENA_ARRAY(a, tensor, MOST);
	g->nodes = ARENA_ARRAY(a, node, MOST);
	g->inputs = ARENA_ARRAY(a, tensor_id, MOST);
	g->outputs = ARENA_ARRAY(a, tensor_id, MOST);
	g->loss = g->learning_rate = g->loss_scale = NONE;
	return (maker){ .a = a, .r = r, .g = g, .layer = NONE };
}

/* The division of what the turns have added, too: that goes with what it
 * reads. */
static stage_division division_of(maker *m, const graph *g, int nstages,
				  int nchunks)
{
	int *of = ARENA_ARRAY(m->a, int, g->nnodes);
	int *chunk = ARENA_ARRAY(m->a, int, g->nnodes);
	plan_pass *pass = ARENA_ARRAY(m->a, plan_pass, g->nnodes);
	strmap *numbers = strmap_new(m->a);
	for (node_id n = 0; n < m->g->nnodes; n++)
		strmap_put(numbers, m->g->nodes[n].name, &m->of[n]);
	for (node_id n = 0; n < g->nnodes; n++) {
		const int *known = strmap_get(numbers, g->nodes[n].name);
		node_id from = known ? NONE
				     : g->tensors[g->nodes[n].inputs[0]]
					       .producer;
		of[n] = known ? *known % nstages : of[from];
		chunk[n] = known ? *known / nstages : chunk[from];
		pass[n] = known ? m->passes[known - m->of] : pass[from];
	}
	return (stage_division){ nstages, nchunks, of, chunk, pass };
}

staged_graph random_staged_graph(arena *a, rng *r, int chunks)
{
	maker m = maker_new(a, r);
	layers l = { .n = 1 + rng_below(r, MOST_LAYERS) };
	int nstages = 1 + rng_below(r, l.n < 4 ? l.n : 4);
	int64_t dims[] = { 2 + rng_below(r, 8), WIDTH };
	bool train = rng_below(r, 4) > 0;
	for (int i = 0; i < l.n; i++)
		l.part[i] = i * nstages * chunks / l.n;
	tensor_id x = tensor_new(&m, "x", TENSOR_INPUT, 2, dims);
	m.g->tensors[x].batch = 1;
	m.g->training = train;
	tensor_id y = forward(&m, &l, x);
	set_output(m.g, y);
	if (rng_below(r, 2))
		set_output(m.g, total(&m, y, false));
	if (train) {
		m.pass = PASS_BACKWARD;
		m.layer = m.g->nnodes - 1;
		backward(&m, &l, sum(&m, y, x, FN_SUB));
		updates(&m, &l);
	}
	diag_sink *s = diag_sink_new(a);
	turns_options o = { .turns = 1 + rng_below(r, (int)dims[0]) };
	graph *g = graph_in_turns(a, m.g, &o, s);
	if (!g)
		diag_print(s, stderr, false);
	ck_assert_ptr_nonnull(g);
	return (staged_graph){ g, division_of(&m, g, nstages, chunks) };
}

/* ---- plans ------------------------------------------------------------- */

/* Nothing that is between stages is partial. */
static assignment layouts_of(arena *a, rng *r, const graph *g)
{
	assignment as;
	do
		as = random_assignment(a, r, g);
	while (as.mesh.naxes > 2);
	return as;
}

static plan_pipeline *lowered(arena *a, rng *r, const graph *g,
			      const stage_division *d, pipeline_schedule kind,
			      diag_sink *s)
{
	const char *why = stage_division_refused(a, g, d);
	ck_assert_msg(!why, "%s", why);
	stage_homes h = stage_homes_of(a, g, d);
	int n = d->nstages;
	lower_stage *stages = ARENA_ARRAY(a, lower_stage, n);
	for (int i = 0; i < n; i++) {
		int *tensors = ARENA_ARRAY(a, int, g->ntensors);
		stages[i].g = stage_graph(a, &h, i, tensors);
		stages[i].as = layouts_of(a, r, stages[i].g);
	}
	const lower_options o = { .algorithm = "random" };
	const pipeline schedule = { .kind = kind, .ndevices = n,
				    .chunks = d->nchunks,
				    .micro_batches = g->turns->turns };
	return lower_pipeline(a, &h, stages, &schedule, &o, s);
}

static staged_graph staged_graph_of(arena *a, rng *r, pipeline_schedule kind)
{
	int chunks = kind == SCHEDULE_INTERLEAVED ? 1 + rng_below(r, 3) : 1;
	return random_staged_graph(a, r, chunks);
}

plan_pipeline *random_pipeline(arena *a, uint64_t seed, pipeline_schedule kind,
			       diag_sink *s)
{
	rng r = rng_new(seed);
	staged_graph x = staged_graph_of(a, &r, kind);
	return lowered(a, &r, x.g, &x.division, kind, s);
}

plan_pipeline *random_pipeline_again(arena *a, uint64_t seed,
				     pipeline_schedule kind, diag_sink *s)
{
	rng r = rng_new(seed);
	staged_graph x = staged_graph_of(a, &r, kind);
	stage_division d, e;
	const graph *g = stage_ties(a, x.g, &x.division, &d);
	const graph *again = stage_recompute(a, g, &d, &e);
	return lowered(a, &r, again, &e, kind, s);
}
