/* Whether a plan is one: each check looks at one table and trusts those
 * before it. */
#include "config.h"

#include <stdarg.h>
#include <string.h>

#include "base/checked.h"
#include "base/intern.h"
#include "plan/overlap.h"
#include "plan/place.h"

typedef struct checker {
	const plan *p;
	diag_sink *sink;
	const char *path;
	const char *table; /* and row, that are being looked at */
	int row;
} checker;

__attribute__((format(printf, 2, 3)))
static bool fail(checker *c, const char *fmt, ...)
{
	char what[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	diag_error_in(c->sink, DIAG_PLAN_INVALID, c->path, "%s[%d]: %s",
		      c->table, c->row, what);
	return false;
}

static bool is_index(int i, int n)
{
	return i >= 0 && i < n;
}

/* Cuts name what exists, and leave no worker without a part of it. */
static bool check_cuts(checker *c, const cuts *x, int n,
		       const int64_t *extents)
{
	const mesh *m = &c->p->mesh;
	for (int a = 0; a < m->naxes; a++) {
		int d = x->dim[a];
		if (d == CUT_NONE)
			continue;
		if (!is_index(d, n))
			return fail(c, "axis %d cuts number %d of %d", a, d, n);
		if (cuts_smallest(extents[d], m, x, m->naxes, d) < 1)
			return fail(c, "number %d is cut into more parts than "
				    "it has elements", d);
	}
	return true;
}

static bool check_mesh(checker *c)
{
	const mesh *m = &c->p->mesh;
	int64_t workers = 1;
	c->table = "mesh";
	if (m->naxes < 0 || m->naxes > MAX_AXES)
		return fail(c, "there are %d axes", m->naxes);
	for (c->row = 0; c->row < m->naxes; c->row++) {
		if (m->size[c->row] < 2 || m->size[c->row] > PLAN_MAX_WORKERS)
			return fail(c, "an axis has %d workers",
				    m->size[c->row]);
		workers *= m->size[c->row];
		if (workers > PLAN_MAX_WORKERS)
			return fail(c, "there are more than %d workers",
				    PLAN_MAX_WORKERS);
	}
	return true;
}

/* ---- tensors, nodes ---------------------------------------------------- */

static bool check_tensor(checker *c, const plan_tensor *t, strmap *names)
{
	int64_t n;
	if (strmap_get(names, t->name))
		return fail(c, "there are two tensors '%.100s'", t->name);
	strmap_put(names, t->name, (void *)t->name);
	if (!ck_product(t->dims, t->ndim, &n) ||
	    !ck_mul(n, (int64_t)dtype_size(t->type), &n) || n > PLAN_MAX_BYTES)
		return fail(c, "the tensor is too large");
	if (t->buffer != -1 && !is_index(t->buffer, c->p->nbuffers))
		return fail(c, "its buffer is %d of %d", t->buffer,
			    c->p->nbuffers);
	if (t->buffer < 0 && t->output)
		return fail(c, "an output has no buffer");
	return check_cuts(c, &t->cuts, t->ndim, t->dims);
}

static bool check_tensors(checker *c, arena *tmp)
{
	const plan *p = c->p;
	strmap *names = strmap_new(tmp);
	bool *seen = ARENA_ARRAY(tmp, bool, p->ntensors);
	bool *given = ARENA_ARRAY(tmp, bool, p->ntensors);
	c->table = "tensors";
	for (c->row = 0; c->row < p->ntensors; c->row++)
		if (!check_tensor(c, &p->tensors[c->row], names))
			return false;
	c->table = "inputs";
	for (c->row = 0; c->row < p->ninputs; c->row++) {
		int t = p->inputs[c->row];
		if (!is_index(t, p->ntensors) || seen[t] ||
		    p->tensors[t].role != PLAN_INPUT)
			return fail(c, "this is no input, or twice the same");
		seen[t] = true;
	}
	c->table = "outputs";
	for (c->row = 0; c->row < p->noutputs; c->row++) {
		int t = p->outputs[c->row];
		if (!is_index(t, p->ntensors) || !p->tensors[t].output ||
		    given[t])
			return fail(c, "this is no output, or twice the same");
		given[t] = true;
	}
	c->table = "tensors";
	for (c->row = 0; c->row < p->ntensors; c->row++)
		if (p->tensors[c->row].role == PLAN_INPUT && !seen[c->row])
			return fail(c, "an input is not among the inputs");
	return true;
}

static bool same_type(const plan_tensor *t, dtype type, int ndim,
		      const int64_t *dims)
{
	if (t->type != type || t->ndim != ndim)
		return false;
	for (int d = 0; d < ndim; d++)
		if (t->dims[d] != dims[d])
			return false;
	return true;
}

/* Whether a variable may be divided: partial results must be combinable. */
static bool check_divided(checker *c, const kernel *k, int v)
{
	if (k->vars[v].kind == KVAR_OUTPUT)
		return !(k->opaque && v >= k->nout - k->nhidden) ||
		       fail(c, "variable %d is hidden in an opaque function",
			    v);
	if (k->vars[v].kind == KVAR_DERIVED)
		return k->reducer == RED_NONE || k->reducer == RED_SUM ||
		       fail(c, "variable %d is a Sum inside another reduction",
			    v);
	return (k->reducer != RED_ARGMAX && k->reducer != RED_ARGMIN) ||
	       fail(c, "partial results of %s cannot be combined",
		    reducer_name(k->reducer));
}

static bool check_division(checker *c, const plan_node *n, const kernel *k)
{
	const plan *p = c->p;
	int64_t extents[MAX_NVARS];
	for (int v = 0; v < k->nvars; v++)
		extents[v] = k->vars[v].extent;
	if (!check_cuts(c, &n->cuts, k->nvars, extents))
		return false;
	for (int a = 0; a < p->mesh.naxes; a++)
		if (n->cuts.dim[a] != CUT_NONE &&
		    !check_divided(c, k, n->cuts.dim[a]))
			return false;
	return true;
}

static bool check_node(checker *c, const plan_node *n, int *producer)
{
	const plan *p = c->p;
	int64_t dims[MAX_NDIM];
	if (!is_index(n->kernel, p->nkernels))
		return fail(c, "its kernel is %d of %d", n->kernel,
			    p->nkernels);
	const kernel *k = p->kernels[n->kernel].kernel;
	for (int i = 0; i < k->ninputs; i++) {
		const kinput *in = &k->inputs[i];
		if (!is_index(n->inputs[i], p->ntensors))
			return fail(c, "input %d is tensor %d of %d", i,
				    n->inputs[i], p->ntensors);
		if (!same_type(&p->tensors[n->inputs[i]], in->type, in->ndim,
			       in->dims))
			return fail(c, "input %d is not what the kernel reads",
				    i);
	}
	for (int d = 0; d < k->nout; d++)
		dims[d] = kernel_dim(k, d);
	if (!is_index(n->output, p->ntensors) ||
	    p->tensors[n->output].role != PLAN_RESULT ||
	    !same_type(&p->tensors[n->output], k->type, k->nout, dims))
		return fail(c, "the output is not what the kernel computes");
	if (producer[n->output] >= 0)
		return fail(c, "node %d has the same output",
			    producer[n->output]);
	producer[n->output] = c->row;
	return check_division(c, n, k);
}

static bool check_nodes(checker *c, arena *tmp)
{
	const plan *p = c->p;
	int *producer = ARENA_ARRAY(tmp, int, p->ntensors);
	strmap *names = strmap_new(tmp);
	for (int t = 0; t < p->ntensors; t++)
		producer[t] = -1;
	c->table = "nodes";
	for (c->row = 0; c->row < p->nnodes; c->row++) {
		const plan_node *n = &p->nodes[c->row];
		if (strmap_get(names, n->name))
			return fail(c, "there are two nodes '%.100s'", n->name);
		strmap_put(names, n->name, (void *)n->name);
		if (!check_node(c, n, producer))
			return false;
	}
	return true;
}

/* ---- buffers ----------------------------------------------------------- */

static bool reads_tensor(const plan *p, const plan_node *n, int tensor)
{
	int ninputs = p->kernels[n->kernel].kernel->ninputs;
	for (int i = 0; i < ninputs; i++)
		if (n->inputs[i] == tensor)
			return true;
	return false;
}

/* Whether the formula of a buffer means something. */
static bool check_formula(checker *c, const plan_buffer *b)
{
	const plan *p = c->p;
	if (b->region == PLAN_STORED)
		return p->tensors[b->tensor].buffer == c->row ||
		       fail(c, "the tensor is stored in another buffer");
	if (!is_index(b->node, p->nnodes))
		return fail(c, "its node is %d of %d", b->node, p->nnodes);
	const plan_node *n = &p->nodes[b->node];
	if (b->region == PLAN_NEEDS)
		return reads_tensor(p, n, b->tensor) ||
		       fail(c, "its node does not read the tensor");
	if (n->output != b->tensor)
		return fail(c, "its node does not compute the tensor");
	return b->region != PLAN_OWN ||
	       plan_partial(p, b->node, NULL) != RED_NONE ||
	       fail(c, "its node gives no partial results");
}

static bool check_buffers(checker *c)
{
	const plan *p = c->p;
	int64_t end, top = 0;
	c->table = "buffers";
	for (c->row = 0; c->row < p->nbuffers; c->row++) {
		const plan_buffer *b = &p->buffers[c->row];
		if (!is_index(b->tensor, p->ntensors))
			return fail(c, "its tensor is %d of %d", b->tensor,
				    p->ntensors);
		if (b->offset < 0 || b->nbytes < 0 || b->offset % PLAN_ALIGN ||
		    !ck_add(b->offset, b->nbytes, &end) ||
		    end > p->arena_bytes)
			return fail(c, "it is not inside the arena, or not "
				    "aligned");
		top = end > top ? end : top;
		if (!check_formula(c, b))
			return false;
	}
	c->row = 0;
	if (p->arena_bytes - top >= PLAN_ALIGN)
		return fail(c, "the buffers end %lld bytes below the arena",
			    (long long)(p->arena_bytes - top));
	c->table = "tensors";
	for (c->row = 0; c->row < p->ntensors; c->row++) {
		int b = p->tensors[c->row].buffer;
		if (b >= 0 && (p->buffers[b].tensor != c->row ||
			       p->buffers[b].region != PLAN_STORED))
			return fail(c, "its buffer holds something else");
	}
	return true;
}

/* ---- the program ------------------------------------------------------- */

typedef struct progress {
	bool *written; /* per buffer */
	bool *run;     /* per node */
} progress;

static bool check_source(checker *c, const progress *g, int buffer)
{
	if (!is_index(buffer, c->p->nbuffers))
		return fail(c, "it reads buffer %d of %d", buffer,
			    c->p->nbuffers);
	return g->written[buffer] ||
	       fail(c, "it reads buffer %d before that is written", buffer);
}

static bool check_run(checker *c, const plan_instr *in, progress *g)
{
	const plan *p = c->p;
	if (!is_index(in->node, p->nnodes) || g->run[in->node])
		return fail(c, "its node does not exist, or runs twice");
	g->run[in->node] = true;
	const plan_node *n = &p->nodes[in->node];
	int ninputs = p->kernels[n->kernel].kernel->ninputs;
	for (int i = 0; i < ninputs; i++) {
		if (!check_source(c, g, in->inputs[i]))
			return false;
		const plan_buffer *b = &p->buffers[in->inputs[i]];
		if (b->tensor != n->inputs[i] ||
		    (b->region != PLAN_STORED && b->region != PLAN_NEEDS))
			return fail(c, "buffer %d is not for input %d",
				    in->inputs[i], i);
	}
	const plan_buffer *to = &p->buffers[in->to];
	bool own = to->region == PLAN_PRODUCES && to->node == in->node;
	bool stored = to->region == PLAN_STORED &&
		      plan_partial(p, in->node, NULL) == RED_NONE;
	return (to->tensor == n->output && (own || stored)) ||
	       fail(c, "buffer %d is not for its result", in->to);
}

static bool check_move(checker *c, const plan_instr *in, const progress *g)
{
	const plan *p = c->p;
	if (!check_source(c, g, in->from))
		return false;
	const plan_buffer *from = &p->buffers[in->from];
	const plan_buffer *to = &p->buffers[in->to];
	bool whole = from->region == PLAN_STORED || from->region == PLAN_OWN ||
		     (from->region == PLAN_PRODUCES &&
		      plan_partial(p, from->node, NULL) == RED_NONE);
	bool kept = to->region == PLAN_STORED || to->region == PLAN_NEEDS;
	return (from->tensor == to->tensor && whole && kept) ||
	       fail(c, "buffer %d cannot be made from buffer %d", in->to,
		    in->from);
}

static bool check_combine(checker *c, const plan_instr *in, const progress *g)
{
	const plan *p = c->p;
	if (!is_index(in->node, p->nnodes) ||
	    plan_partial(p, in->node, NULL) == RED_NONE)
		return fail(c, "its node gives no partial results");
	if (!check_source(c, g, in->from))
		return false;
	const plan_buffer *from = &p->buffers[in->from];
	const plan_buffer *to = &p->buffers[in->to];
	bool partial = from->region == PLAN_PRODUCES && from->node == in->node;
	bool share = to->region == PLAN_OWN ? to->node == in->node
					    : to->region == PLAN_STORED;
	return (partial && share && from->tensor == to->tensor) ||
	       fail(c, "buffer %d cannot be combined from buffer %d", in->to,
		    in->from);
}

static bool check_instr(checker *c, const plan_instr *in, progress *g)
{
	const plan *p = c->p;
	bool ok = false;
	if (!is_index(in->to, p->nbuffers) || g->written[in->to])
		return fail(c, "buffer %d does not exist, or has its value "
			    "already", in->to);
	switch (in->op) {
	case PLAN_RUN:
		ok = check_run(c, in, g);
		break;
	case PLAN_MOVE:
		ok = check_move(c, in, g);
		break;
	case PLAN_COMBINE:
		ok = check_combine(c, in, g);
		break;
	}
	g->written[in->to] = true;
	return ok;
}

static bool check_program(checker *c, arena *tmp)
{
	const plan *p = c->p;
	progress g = { ARENA_ARRAY(tmp, bool, p->nbuffers),
		       ARENA_ARRAY(tmp, bool, p->nnodes) };
	for (int t = 0; t < p->ntensors; t++)
		if (p->tensors[t].role != PLAN_RESULT &&
		    p->tensors[t].buffer >= 0)
			g.written[p->tensors[t].buffer] = true;
	c->table = "program";
	for (c->row = 0; c->row < p->ninstrs; c->row++)
		if (!check_instr(c, &p->program[c->row], &g))
			return false;
	c->table = "outputs";
	for (c->row = 0; c->row < p->noutputs; c->row++)
		if (!g.written[p->tensors[p->outputs[c->row]].buffer])
			return fail(c, "this output is never computed");
	return true;
}

static int64_t expr_length(const kexpr *e)
{
	int64_t n = 1;
	for (int i = 0; i < e->nargs; i++)
		n += expr_length(e->args[i]);
	return n;
}

/* What a kernel reads takes time in the length of its body.  A worker asks
 * that for each buffer with a formula and each input of a run; a plan where
 * that takes longer than a second or so is refused. */
static bool check_work(checker *c, arena *tmp)
{
	enum { MOST_WORK = 20000000 };
	const plan *p = c->p;
	int64_t *length = ARENA_ARRAY(tmp, int64_t, p->nkernels), work = 0;
	for (int k = 0; k < p->nkernels; k++)
		if (p->kernels[k].kernel->body)
			length[k] = expr_length(p->kernels[k].kernel->body);
	c->table = "buffers";
	for (c->row = 0; c->row < p->nbuffers && work < MOST_WORK; c->row++) {
		const plan_buffer *b = &p->buffers[c->row];
		if (b->region != PLAN_STORED)
			work += length[p->nodes[b->node].kernel];
	}
	c->table = "program";
	for (c->row = 0; c->row < p->ninstrs && work < MOST_WORK; c->row++) {
		const plan_instr *in = &p->program[c->row];
		if (in->op != PLAN_RUN)
			continue;
		int k = p->nodes[in->node].kernel;
		work += length[k] * (p->kernels[k].kernel->ninputs + 1);
	}
	return work < MOST_WORK || fail(c, "the kernels are too long");
}

static bool check_overlaps(checker *c)
{
	int x, y;
	if (!plan_overlap(c->p, &x, &y))
		return true;
	c->table = "buffers";
	c->row = x;
	return fail(c, "it is overwritten while it is in use, by buffer %d", y);
}

bool plan_check(const plan *p, diag_sink *s, const char *path)
{
	arena *tmp = arena_new();
	checker c = { .p = p, .sink = s, .path = path };
	bool ok = check_mesh(&c) && check_tensors(&c, tmp) &&
		  check_nodes(&c, tmp) && check_buffers(&c) &&
		  check_program(&c, tmp) && check_work(&c, tmp) &&
		  check_overlaps(&c);
	arena_free(tmp);
	return ok;
}

/* ---- one worker -------------------------------------------------------- */

static bool check_size(checker *c, const plan_buffer *b, const region *r)
{
	int64_t nbytes;
	dtype type = c->p->tensors[b->tensor].type;
	return (ck_mul(r->count, (int64_t)dtype_size(type), &nbytes) &&
		nbytes <= b->nbytes) ||
	       fail(c, "it has %lld bytes, too few for a worker's part",
		    (long long)b->nbytes);
}

/* Whether buffers hold the same on the worker whose regions these are. */
static bool agree(const region *x, const region *y)
{
	return (x->count == 0 && y->count == 0) ||
	       (box_equal(&x->at, &y->at) && x->first == y->first &&
		x->count == y->count);
}

static bool check_run_at(checker *c, const plan_instr *in,
			 const region *regions, int worker)
{
	const plan *p = c->p;
	const plan_node *n = &p->nodes[in->node];
	const kernel *k = p->kernels[n->kernel].kernel;
	const plan_buffer *out = &p->buffers[in->to];
	box space = plan_space(p, in->node, worker);
	box made = kernel_produces(k, &space);
	region whole = { made, 0, box_volume(&made) };
	if (!agree(&regions[in->to], &whole))
		return fail(c, "its result is not what buffer %d holds",
			    in->to);
	for (int i = 0; i < k->ninputs; i++) {
		const plan_buffer *b = &p->buffers[in->inputs[i]];
		const region *r = &regions[in->inputs[i]];
		box need = kernel_need(k, &space, i);
		if (!box_is_empty(&need) && !box_contains(&r->at, &need))
			return fail(c, "input %d is not in buffer %d", i,
				    in->inputs[i]);
		if (b->offset == out->offset && b->nbytes > 0 &&
		    out->nbytes > 0 && !agree(r, &whole))
			return fail(c, "its result overwrites input %d", i);
	}
	return true;
}

/* A COMBINE straight into the stored block: that is the worker's share. */
static bool check_share_at(checker *c, const plan_instr *in,
			   const region *regions, int worker)
{
	const plan_buffer share = { .tensor = c->p->buffers[in->to].tensor,
				    .region = PLAN_OWN, .node = in->node };
	int coords[MAX_AXES];
	mesh_coords(&c->p->mesh, worker, coords);
	region r = plan_region_at(c->p, &share, coords);
	return agree(&regions[in->to], &r) ||
	       fail(c, "its share is not what buffer %d holds", in->to);
}

static bool check_worker(checker *c, region *regions, int worker)
{
	const plan *p = c->p;
	c->table = "buffers";
	for (c->row = 0; c->row < p->nbuffers; c->row++) {
		regions[c->row] = plan_region(p, c->row, worker);
		if (!check_size(c, &p->buffers[c->row], &regions[c->row]))
			return false;
	}
	c->table = "program";
	for (c->row = 0; c->row < p->ninstrs; c->row++) {
		const plan_instr *in = &p->program[c->row];
		if (in->op == PLAN_RUN &&
		    !check_run_at(c, in, regions, worker))
			return false;
		if (in->op == PLAN_COMBINE &&
		    !check_share_at(c, in, regions, worker))
			return false;
	}
	return true;
}

bool plan_check_worker(const plan *p, int worker, diag_sink *s,
		       const char *path)
{
	arena *tmp = arena_new();
	checker c = { .p = p, .sink = s, .path = path };
	bool ok = check_worker(&c, ARENA_ARRAY(tmp, region, p->nbuffers),
			       worker);
	arena_free(tmp);
	return ok;
}
