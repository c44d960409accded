/* The checks of a plan: each looks at one table and relies on the checks of
 * those before it. */
#include "config.h"

#include "plan/check.h"

#include <stdarg.h>
#include <string.h>

#include "base/checked.h"
#include "base/intern.h"
#include "plan/lifetimes.h"
#include "plan/overlap.h"

bool flaw(plan_checker *c, const char *fmt, ...)
{
	char what[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	int row = c->row;
	char place[64] = "";
	if (c->stage >= 0)
		snprintf(place, sizeof(place), "stage %d: ", c->stage);
	if (c->rolled && !strcmp(c->table, "program"))
		row = plan_rolled_instr(c->rolled, c->most, row);
	if (c->rolled && !strcmp(c->table, "buffers"))
		row = plan_rolled_buffer(c->rolled, row);
	if (row < 0)
		diag_error_in(c->sink, DIAG_PLAN_INVALID, c->path, "%s%s: %s",
			      place, c->table, what);
	else
		diag_error_in(c->sink, DIAG_PLAN_INVALID, c->path,
			      "%s%s[%d]: %s", place, c->table, row, what);
	return false;
}

bool plan_tensor_is(const plan_tensor *t, dtype type, int ndim,
		    const int64_t *dims)
{
	if (t->type != type || t->ndim != ndim)
		return false;
	for (int d = 0; d < ndim; d++)
		if (t->dims[d] != dims[d])
			return false;
	return true;
}

bool plan_check_cuts(plan_checker *c, const cuts *x, int time, int n,
		     const int64_t *whole)
{
	const mesh *m = &c->p->mesh;
	int64_t extents[MAX_NVARS];
	for (int i = 0; i < n; i++)
		extents[i] = whole[i];
	if (c->p->loop.turns > 0 && time != CUT_NONE)
		extents[time] = loop_smallest_turn(&c->p->loop, extents[time]);
	for (int a = 0; a < m->naxes; a++) {
		int d = x->dim[a];
		if (d < 0)
			continue;
		if (!is_index(d, n))
			return flaw(c, "axis %d cuts number %d of %d", a, d, n);
		if (cuts_smallest(extents[d], m, x, m->naxes, d) < 1)
			return flaw(c, "number %d is cut into more parts than "
				    "it has elements", d);
	}
	return true;
}

static bool check_mesh(plan_checker *c)
{
	const mesh *m = &c->p->mesh;
	int64_t workers = 1;
	c->table = "mesh";
	if (m->naxes < 0 || m->naxes > MAX_AXES)
		return flaw(c, "there are %d axes", m->naxes);
	for (c->row = 0; c->row < m->naxes; c->row++) {
		if (m->size[c->row] < 2 || m->size[c->row] > MESH_MAX_WORKERS)
			return flaw(c, "an axis has %d workers",
				    m->size[c->row]);
		workers *= m->size[c->row];
		if (workers > MESH_MAX_WORKERS)
			return flaw(c, "there are more than %d workers",
				    MESH_MAX_WORKERS);
	}
	return true;
}

/* ---- tensors ----------------------------------------------------------- */

static bool check_tensor(plan_checker *c, const plan_tensor *t, strmap *names)
{
	int64_t n;
	if (strmap_get(names, t->name))
		return flaw(c, "there are two tensors '%.100s'", t->name);
	strmap_put(names, t->name, (void *)t->name);
	if (!ck_product(t->dims, t->ndim, &n) ||
	    !ck_mul(n, (int64_t)dtype_size(t->type), &n) || n > PLAN_MAX_BYTES)
		return flaw(c, "the tensor is too large");
	if (t->buffer != -1 && !is_index(t->buffer, c->p->nbuffers))
		return flaw(c, "its buffer is %d of %d", t->buffer,
			    c->p->nbuffers);
	if (t->buffer < 0 && t->output)
		return flaw(c, "an output has no buffer");
	bool kept = t->role == PLAN_CONSTANT || t->role == PLAN_STATE;
	if (kept && c->p->loop.turns > 0 && t->time != CUT_NONE)
		return flaw(c, "time divides what is kept");
	if (kept && t->buffer >= 0 && t->constant.kind == PLAN_CONST_NONE)
		return flaw(c, "its elements are not known");
	if (cuts_partial(&t->cuts, c->p->mesh.naxes) &&
	    (t->role != PLAN_RESULT || t->output))
		return flaw(c, "only a result that is no output may be "
			    "partial");
	return loop_check_time(c, t->time, t->ndim, t->dims) &&
	       plan_check_cuts(c, &t->cuts, t->time, t->ndim, t->dims);
}

/* Checks the next value of a state: a result with the state's type, shape and
 * cuts that is not the next value of another state. */
static bool check_next(plan_checker *c, const plan_tensor *t, bool *taken)
{
	const plan *p = c->p;
	if (t->role != PLAN_STATE || t->next == -1)
		return true;
	if (!is_index(t->next, p->ntensors) || taken[t->next])
		return flaw(c, "its next value is tensor %d, which does not "
			    "exist or is another state's", t->next);
	const plan_tensor *u = &p->tensors[t->next];
	taken[t->next] = true;
	if (!loop_may_follow(p, t, u))
		return flaw(c, "its next value is not a result of its type, "
			    "shape and cuts");
	return !t->output || flaw(c, "a state that changes is an output");
}

/* Checks the tensors of one element of a training step. */
static bool check_training(plan_checker *c)
{
	const plan *p = c->p;
	if (!p->training)
		return true;
	c->table = "training";
	c->row = 0;
	if (p->loss != -1 &&
	    (!is_index(p->loss, p->ntensors) || !p->tensors[p->loss].output ||
	     plan_tensor_nelem(&p->tensors[p->loss]) != 1))
		return flaw(c, "the loss is not an output of one element");
	if (p->learning_rate != -1 &&
	    (!is_index(p->learning_rate, p->ntensors) ||
	     p->tensors[p->learning_rate].role != PLAN_INPUT ||
	     plan_tensor_nelem(&p->tensors[p->learning_rate]) != 1))
		return flaw(c, "the learning rate is not an input of one "
			       "element");
	if (p->loss_scale != -1 &&
	    (!is_index(p->loss_scale, p->ntensors) ||
	     p->tensors[p->loss_scale].role != PLAN_STATE ||
	     plan_tensor_nelem(&p->tensors[p->loss_scale]) != 1))
		return flaw(c, "the loss scale is not a state of one element");
	return true;
}

/* Checks the input that gives the number of entries in states that grow. */
static bool check_growth(plan_checker *c)
{
	const plan *p = c->p;
	c->table = "growth";
	c->row = 0;
	if (p->length == 0)
		return true;
	bool one = is_index(p->position, p->ntensors) &&
		   p->tensors[p->position].role == PLAN_INPUT &&
		   plan_tensor_nelem(&p->tensors[p->position]) == 1 &&
		   dtype_is_int(p->tensors[p->position].type);
	return one || flaw(c, "the position is not an input of one integer");
}

static bool check_tensors(plan_checker *c, arena *tmp)
{
	const plan *p = c->p;
	strmap *names = strmap_new(tmp);
	bool *seen = ARENA_ARRAY(tmp, bool, p->ntensors);
	bool *given = ARENA_ARRAY(tmp, bool, p->ntensors);
	bool *taken = ARENA_ARRAY(tmp, bool, p->ntensors);
	c->table = "tensors";
	for (c->row = 0; c->row < p->ntensors; c->row++)
		if (!check_tensor(c, &p->tensors[c->row], names))
			return false;
	c->table = "inputs";
	for (c->row = 0; c->row < p->ninputs; c->row++) {
		int t = p->inputs[c->row];
		if (!is_index(t, p->ntensors) || seen[t] ||
		    p->tensors[t].role != PLAN_INPUT)
			return flaw(c, "this is not an input, or the same one "
				       "twice");
		seen[t] = true;
	}
	c->table = "outputs";
	for (c->row = 0; c->row < p->noutputs; c->row++) {
		int t = p->outputs[c->row];
		if (!is_index(t, p->ntensors) || !p->tensors[t].output ||
		    given[t])
			return flaw(c, "this is not an output, or the same one "
				       "twice");
		given[t] = true;
	}
	c->table = "tensors";
	for (c->row = 0; c->row < p->ntensors; c->row++)
		if (p->tensors[c->row].role == PLAN_INPUT && !seen[c->row])
			return flaw(c, "an input is not among the inputs");
	for (c->row = 0; c->row < p->ntensors; c->row++)
		if (!check_next(c, &p->tensors[c->row], taken))
			return false;
	bool *carried = ARENA_ARRAY(tmp, bool, p->ntensors);
	for (c->row = 0; c->row < p->ntensors; c->row++)
		if (!loop_check_then(c, &p->tensors[c->row], carried))
			return false;
	return check_training(c) && check_growth(c);
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

/* Whether the formula of a buffer is meaningful. */
static bool check_formula(plan_checker *c, const plan_buffer *b)
{
	const plan *p = c->p;
	if (b->region == LAYOUT_STORED)
		return p->tensors[b->tensor].buffer == c->row ||
		       flaw(c, "the tensor is stored in another buffer");
	if (!is_index(b->node, p->nnodes))
		return flaw(c, "its node is %d of %d", b->node, p->nnodes);
	const plan_node *n = &p->nodes[b->node];
	if (b->region == LAYOUT_NEEDS)
		return reads_tensor(p, n, b->tensor) ||
		       flaw(c, "its node does not read the tensor");
	if (n->output != b->tensor)
		return flaw(c, "its node does not compute the tensor");
	return b->region != LAYOUT_REDUCED_SHARD ||
	       plan_combines(p, b->node) ||
	       flaw(c, "its node gives no partial results to combine");
}

static bool check_buffers(plan_checker *c)
{
	const plan *p = c->p;
	int64_t end, top = 0;
	c->table = "buffers";
	for (c->row = 0; c->row < p->nbuffers; c->row++) {
		const plan_buffer *b = &p->buffers[c->row];
		if (!is_index(b->tensor, p->ntensors))
			return flaw(c, "its tensor is %d of %d", b->tensor,
				    p->ntensors);
		if (b->offset < 0 || b->nbytes < 0 || b->offset % PLAN_ALIGN ||
		    b->nbytes > c->p->arena_bytes || b->slots < 0 ||
		    b->slots > PLAN_MAX_SLOTS ||
		    !ck_add(b->offset, plan_buffer_span(b), &end) ||
		    end > p->arena_bytes)
			return flaw(c, "it is not inside the arena, or not "
				    "aligned");
		top = end > top ? end : top;
		if (!check_formula(c, b))
			return false;
	}
	c->row = 0;
	if (p->arena_bytes - top >= PLAN_ALIGN)
		return flaw(c, "the buffers end %lld bytes below the arena",
			    (long long)(p->arena_bytes - top));
	c->table = "tensors";
	for (c->row = 0; c->row < p->ntensors; c->row++) {
		int b = p->tensors[c->row].buffer;
		if (b >= 0 && (p->buffers[b].tensor != c->row ||
			       p->buffers[b].region != LAYOUT_STORED))
			return flaw(c, "its buffer holds something else");
	}
	return true;
}

/* ---- the program ------------------------------------------------------- */

typedef struct progress {
	bool *written; /* per buffer */
	bool *updated; /* per buffer of a state: it has its next value */
	int *run;      /* per node: 1 + the turn in which it ran last */
} progress;

static bool check_source(plan_checker *c, const progress *g, int buffer)
{
	if (!is_index(buffer, c->p->nbuffers))
		return flaw(c, "it reads buffer %d of %d", buffer,
			    c->p->nbuffers);
	if (g->updated[buffer])
		return flaw(c, "it reads buffer %d, which has the value for "
			    "the next run", buffer);
	return g->written[buffer] ||
	       flaw(c, "it reads buffer %d before that is written", buffer);
}

/* Whether a buffer has zeros for an input exactly where the node must read
 * them. */
static bool check_zeros(plan_checker *c, const plan_instr *in, int input)
{
	const plan *p = c->p;
	const plan_node *n = &p->nodes[in->node];
	const plan_buffer need = { .tensor = n->inputs[input],
				   .region = LAYOUT_NEEDS,
				   .node = in->node };
	layout wanted = plan_layout(p, &need);
	layout has = plan_layout(p, &p->buffers[in->inputs[input]]);
	return has.zeros == wanted.zeros ||
	       flaw(c, "buffer %d does not have zeros where input %d is to be "
		    "a part of a sum", in->inputs[input], input);
}

static bool check_run(plan_checker *c, const plan_instr *in, progress *g)
{
	const plan *p = c->p;
	int turn = p->loop.turns > 0 ? in->turn + 1 : 1;
	if (!is_index(in->node, p->nnodes) || g->run[in->node] == turn)
		return flaw(c, "its node does not exist, or runs twice");
	g->run[in->node] = turn;
	const plan_node *n = &p->nodes[in->node];
	int ninputs = p->kernels[n->kernel].kernel->ninputs;
	for (int i = 0; i < ninputs; i++) {
		if (!check_source(c, g, in->inputs[i]))
			return false;
		const plan_buffer *b = &p->buffers[in->inputs[i]];
		if (!loop_stands_for(p, b->tensor, n->inputs[i]) ||
		    (b->region != LAYOUT_STORED && b->region != LAYOUT_NEEDS))
			return flaw(c, "buffer %d is not for input %d",
				    in->inputs[i], i);
		if (!check_zeros(c, in, i))
			return false;
	}
	const plan_buffer *to = &p->buffers[in->to];
	bool own = to->region == LAYOUT_PRODUCES && to->node == in->node;
	bool stored = to->region == LAYOUT_STORED &&
		      !plan_combines(p, in->node);
	return (to->tensor == n->output && (own || stored)) ||
	       flaw(c, "buffer %d is not for its result", in->to);
}

/* Whether a buffer holds the stored block of a state that has a next value. */
static bool is_changing(const plan *p, int buffer)
{
	const plan_buffer *b = &p->buffers[buffer];
	const plan_tensor *t = &p->tensors[b->tensor];
	return b->region == LAYOUT_STORED && t->role == PLAN_STATE &&
	       t->next >= 0;
}

static bool check_update(plan_checker *c, const plan_instr *in, progress *g)
{
	const plan *p = c->p;
	const plan_tensor *state = &p->tensors[p->buffers[in->to].tensor];
	if (!check_source(c, g, in->from))
		return false;
	g->updated[in->to] = true;
	return in->from == p->tensors[state->next].buffer ||
	       flaw(c, "buffer %d is not the next value of '%.100s'", in->from,
		    state->name);
}

static bool check_move(plan_checker *c, const plan_instr *in, const progress *g)
{
	const plan *p = c->p;
	if (!check_source(c, g, in->from))
		return false;
	const plan_buffer *from = &p->buffers[in->from];
	const plan_buffer *to = &p->buffers[in->to];
	bool whole = from->region == LAYOUT_STORED ||
		     from->region == LAYOUT_REDUCED_SHARD ||
		     (from->region == LAYOUT_PRODUCES &&
		      !plan_combines(p, from->node));
	bool kept = to->region == LAYOUT_STORED || to->region == LAYOUT_NEEDS;
	if (from->region != LAYOUT_STORED && plan_layout(p, to).zeros)
		return flaw(c, "buffer %d has zeros, and is not made from "
			    "where the tensor is stored", in->to);
	return (from->tensor == to->tensor && whole && kept) ||
	       flaw(c, "buffer %d cannot be made from buffer %d", in->to,
		    in->from);
}

static bool check_combine(plan_checker *c, const plan_instr *in,
			  const progress *g)
{
	const plan *p = c->p;
	if (!is_index(in->node, p->nnodes) ||
	    !plan_combines(p, in->node))
		return flaw(c, "its node gives no partial results to "
			    "combine");
	if (!check_source(c, g, in->from))
		return false;
	const plan_buffer *from = &p->buffers[in->from];
	const plan_buffer *to = &p->buffers[in->to];
	bool partial = from->region == LAYOUT_PRODUCES &&
		       from->node == in->node;
	bool share = to->region == LAYOUT_REDUCED_SHARD ? to->node == in->node
					    : to->region == LAYOUT_STORED;
	return (partial && share && from->tensor == to->tensor) ||
	       flaw(c, "buffer %d cannot be combined from buffer %d", in->to,
		    in->from);
}

static bool check_instr(plan_checker *c, const plan_instr *in, progress *g)
{
	const plan *p = c->p;
	if (in->op == PLAN_SEND)
		return check_source(c, g, in->from) &&
		       stage_check_message(c, in);
	bool ok = false, exists = is_index(in->to, p->nbuffers);
	bool update = exists && in->op == PLAN_MOVE && !g->updated[in->to] &&
		      is_changing(p, in->to);
	if (!exists || (g->written[in->to] && !update))
		return flaw(c, "buffer %d does not exist, or has its value "
			    "already", in->to);
	if (update)
		return check_update(c, in, g);
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
	case PLAN_FEED:
		ok = loop_check_feed(c, in);
		break;
	case PLAN_RECEIVE:
		ok = stage_check_message(c, in);
		break;
	case PLAN_SEND:
		break;
	}
	g->written[in->to] = true;
	return ok;
}

/* Checks that each state that changes gets its next value.  If both have one
 * place, the check of overlaps ensures it. */
static bool check_states(plan_checker *c, const progress *g)
{
	const plan *p = c->p;
	c->table = "tensors";
	for (c->row = 0; c->row < p->ntensors; c->row++) {
		const plan_tensor *t = &p->tensors[c->row];
		if (t->role != PLAN_STATE || t->next < 0)
			continue;
		int next = p->tensors[t->next].buffer;
		const plan_buffer *x = &p->buffers[t->buffer];
		const plan_buffer *y = &p->buffers[next];
		bool same = x->offset == y->offset && x->nbytes == y->nbytes;
		if (!g->written[next] || (!g->updated[t->buffer] && !same))
			return flaw(c, "the state does not get its next value");
	}
	return true;
}

static bool check_program(plan_checker *c, arena *tmp)
{
	const plan *p = c->p;
	progress g = { ARENA_ARRAY(tmp, bool, p->nbuffers),
		       ARENA_ARRAY(tmp, bool, p->nbuffers),
		       ARENA_ARRAY(tmp, int, p->nnodes) };
	for (int t = 0; t < p->ntensors; t++)
		if (p->tensors[t].role != PLAN_RESULT &&
		    p->tensors[t].buffer >= 0 &&
		    (p->loop.turns == 0 || p->tensors[t].time == CUT_NONE))
			g.written[p->tensors[t].buffer] = true;
	c->table = "program";
	for (c->row = 0; c->row < p->ninstrs; c->row++)
		if (!check_instr(c, &p->program[c->row], &g))
			return false;
	c->table = "outputs";
	for (c->row = 0; c->row < p->noutputs; c->row++)
		if (!g.written[p->tensors[p->outputs[c->row]].buffer])
			return flaw(c, "this output is never computed");
	return check_states(c, &g);
}

static int64_t expr_length(const kexpr *e)
{
	int64_t n = 1;
	for (int i = 0; i < e->nargs; i++)
		n += expr_length(e->args[i]);
	return n;
}

/* Limits the work of checking and running.  Finding the reads of a kernel takes
 * time proportional to the length of its body, and a worker does it for each
 * buffer with a formula and each input of a run.  Plans that would need more
 * than about ten seconds are refused; steps of a hundred micro-batches through
 * a hundred layers need two. */
static bool check_work(plan_checker *c, arena *tmp)
{
	enum { MOST_WORK = 200000000 };
	const plan *p = c->p;
	int64_t *length = ARENA_ARRAY(tmp, int64_t, p->nkernels), work = 0;
	for (int k = 0; k < p->nkernels; k++)
		if (p->kernels[k].kernel->body)
			length[k] = expr_length(p->kernels[k].kernel->body);
	c->table = "buffers";
	for (c->row = 0; c->row < p->nbuffers && work < MOST_WORK; c->row++) {
		const plan_buffer *b = &p->buffers[c->row];
		if (b->region != LAYOUT_STORED)
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
	work *= p->loop.turns > 0 ? p->loop.turns : 1;
	return work < MOST_WORK || flaw(c, "the kernels are too long");
}

static bool check_overlaps(plan_checker *c)
{
	int x, y;
	if (!plan_overlap(c->p, &x, &y))
		return true;
	c->table = "buffers";
	c->row = x;
	return flaw(c, "it is overwritten while it is in use, by buffer %d", y);
}

/* Checks the program; of a loop the first turns and the last represent all. */
static bool check_turns(plan_checker *c, arena *tmp)
{
	c->rolled = c->p;
	c->most = 3;
	c->p = plan_in_order(tmp, c->p, c->most);
	bool ok = check_program(c, tmp) && plan_check_buckets(c, tmp) &&
		  plan_check_chains(c, tmp) && check_overlaps(c);
	c->p = c->rolled;
	c->rolled = NULL;
	return ok;
}

bool plan_check_stage(const plan *p, int stage, diag_sink *s, const char *path)
{
	arena *tmp = arena_new();
	plan_checker c = { .p = p, .sink = s, .path = path, .stage = stage };
	bool ok = check_mesh(&c) && check_tensors(&c, tmp) &&
		  plan_check_folds(&c, tmp) &&
		  plan_check_epilogues(&c) &&
		  plan_check_nodes(&c, tmp) && check_buffers(&c) &&
		  loop_check(&c, tmp) && stage_check_schedule(&c, tmp) &&
		  stage_check_slots(&c, tmp) && check_turns(&c, tmp) &&
		  check_work(&c, tmp);
	arena_free(tmp);
	return ok;
}

bool plan_check(const plan *p, diag_sink *s, const char *path)
{
	return plan_check_stage(p, -1, s, path);
}
