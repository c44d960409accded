/* The rows of a plan's tables. */
#include "config.h"

#include <string.h>

#include "plan/read.h"

static bool read_tensor(reader *r, const plan *p, json_t *j, plan_tensor *t)
{
	static const char *const roles[] = { "input", "constant", "result",
					     "state" };
	members m;
	int role = 0;
	if (!read_members(r, j, &m) || !read_name(r, &m, "name", &t->name) ||
	    !read_type_value(r, read_member(r, &m, "type"), "'type'",
			     &t->type) ||
	    !read_dims(r, read_member(r, &m, "shape"), &t->ndim, t->dims) ||
	    !read_word(r, &m, "role", roles, 4, &role) ||
	    !read_cuts(r, p, &m, NULL, &t->cuts))
		return false;
	t->role = (plan_role)role;
	t->next = t->buffer = t->then = -1;
	if (json_object_get(j, "buffer") &&
	    !read_index(r, &m, "buffer", PLAN_MOST_ROWS, &t->buffer))
		return false;
	if (t->role == PLAN_STATE && json_object_get(j, "next") &&
	    !read_index(r, &m, "next", PLAN_MOST_ROWS, &t->next))
		return false;
	if (!read_time(r, p, &m, MAX_NDIM - 1, &t->time))
		return false;
	if (p->loop.turns > 0 && json_object_get(j, "then") &&
	    !read_index(r, &m, "then", PLAN_MOST_ROWS, &t->then))
		return false;
	bool optional = t->role == PLAN_INPUT || t->role == PLAN_RESULT ||
			t->buffer < 0;
	if ((!optional || json_object_get(j, "constant")) &&
	    !read_constant(r, read_member(r, &m, "constant"), t))
		return false;
	return read_no_more(r, &m);
}

static bool read_node(reader *r, const plan *p, json_t *j, plan_node *n)
{
	members m;
	int ninputs = 0, *inputs = NULL;
	if (!read_members(r, j, &m) || !read_name(r, &m, "name", &n->name) ||
	    !read_name(r, &m, "op", &n->op) ||
	    !read_index(r, &m, "kernel", p->nkernels - 1, &n->kernel) ||
	    !read_cuts(r, p, &m, p->kernels[n->kernel].kernel, &n->cuts) ||
	    !read_ints(r, &m, "inputs", &inputs, &ninputs) ||
	    !read_index(r, &m, "output", PLAN_MOST_ROWS, &n->output) ||
	    !read_time(r, p, &m, MAX_NVARS - 1, &n->time))
		return false;
	if (ninputs != p->kernels[n->kernel].kernel->ninputs)
		return read_error(r, "the node has %d inputs, its kernel %d",
				  ninputs,
				  p->kernels[n->kernel].kernel->ninputs);
	n->inputs = inputs;
	return read_no_more(r, &m);
}

static bool read_buffer(reader *r, const plan *p, json_t *j, plan_buffer *b)
{
	static const char *const regions[] = { "stored", "needs", "produces",
					       "own" };
	members m;
	int kind = 0;
	if (!read_members(r, j, &m) ||
	    !read_index(r, &m, "tensor", PLAN_MOST_ROWS, &b->tensor) ||
	    !read_word(r, &m, "region", regions, 4, &kind))
		return false;
	b->region = (layout_kind)kind;
	b->node = -1;
	b->turn = p->loop.turns - 1;
	if (b->region != LAYOUT_STORED &&
	    !read_index(r, &m, "node", PLAN_MOST_ROWS, &b->node))
		return false;
	if (p->stage && json_object_get(j, "slots") &&
	    !read_index(r, &m, "slots", PLAN_MAX_SLOTS, &b->slots))
		return false;
	return read_int(r, &m, "offset", 0, INT64_MAX, &b->offset) &&
	       read_int(r, &m, "bytes", 0, INT64_MAX, &b->nbytes) &&
	       read_no_more(r, &m);
}

static bool read_run(reader *r, const plan *p, members *m, plan_instr *in)
{
	int ninputs = 0, *inputs = NULL;
	in->op = PLAN_RUN;
	in->from = -1;
	if (!read_index(r, m, "run", p->nnodes - 1, &in->node) ||
	    !read_ints(r, m, "from", &inputs, &ninputs))
		return false;
	const plan_node *n = &p->nodes[in->node];
	if (ninputs != p->kernels[n->kernel].kernel->ninputs)
		return read_error(r, "the run has %d inputs, its kernel %d",
				  ninputs,
				  p->kernels[n->kernel].kernel->ninputs);
	in->inputs = inputs;
	return !json_object_get(m->object, "chain") ||
	       read_index(r, m, "chain", PLAN_MOST_ROWS, &in->chain);
}

static bool read_transfer(reader *r, const plan *p, members *m,
			  plan_instr *in)
{
	const char *how;
	bool move = json_object_get(m->object, "move") != NULL;
	in->op = move ? PLAN_MOVE : PLAN_COMBINE;
	in->node = -1;
	if (!move &&
	    !read_index(r, m, "combine", p->nnodes - 1, &in->node))
		return false;
	if (!read_text(r, m, move ? "move" : "as", &how) ||
	    !read_index(r, m, "from", PLAN_MOST_ROWS, &in->from))
		return false;
	int c = collective_parse(how);
	if (c < 0)
		return read_error(r, "'%.40s' is not a collective", how);
	in->collective = (collective)c;
	return !json_object_get(m->object, "bucket") ||
	       read_index(r, m, "bucket", PLAN_MOST_ROWS, &in->bucket);
}

static bool read_feed(reader *r, members *m, plan_instr *in)
{
	in->op = PLAN_FEED;
	in->node = in->from = -1;
	return read_index(r, m, "feed", PLAN_MOST_ROWS, &in->to);
}

static bool read_message(reader *r, members *m, plan_instr *in)
{
	bool sends = json_object_get(m->object, "send") != NULL;
	in->op = sends ? PLAN_SEND : PLAN_RECEIVE;
	in->node = in->from = -1;
	if (!read_index(r, m, sends ? "send" : "receive", PLAN_MOST_ROWS,
			&in->channel) ||
	    !read_index(r, m, sends ? "from" : "to", PLAN_MOST_ROWS, &in->to))
		return false;
	if (sends)
		in->from = in->to;
	return true;
}

static bool read_instr(reader *r, const plan *p, json_t *j, plan_instr *in)
{
	members m;
	if (!read_members(r, j, &m))
		return false;
	bool run = json_object_get(j, "run") != NULL;
	in->turn = p->loop.turns - 1;
	if (p->loop.turns > 0 && json_object_get(j, "feed"))
		return read_feed(r, &m, in) && read_no_more(r, &m);
	if (p->stage && (json_object_get(j, "send") ||
			 json_object_get(j, "receive")))
		return read_message(r, &m, in) && read_no_more(r, &m);
	return (run ? read_run(r, p, &m, in) : read_transfer(r, p, &m, in)) &&
	       read_index(r, &m, "to", PLAN_MOST_ROWS, &in->to) &&
	       read_no_more(r, &m);
}

bool read_row(reader *r, plan *p, json_t *j, int table, int i)
{
	switch (table) {
	case TABLE_KERNELS:
		return read_kernel(r, j, &p->kernels[i]);
	case TABLE_TENSORS:
		return read_tensor(r, p, j, &p->tensors[i]);
	case TABLE_NODES:
		return read_node(r, p, j, &p->nodes[i]);
	case TABLE_BUFFERS:
		return read_buffer(r, p, j, &p->buffers[i]);
	default:
		return read_instr(r, p, j, &p->program[i]);
	}
}

