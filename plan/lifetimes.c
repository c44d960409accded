#include "config.h"

#include "plan/lifetimes.h"

void plan_reads(const plan *p, const plan_instr *in,
		void (*f)(void *to, int buffer), void *to)
{
	if (plan_moves(in) || in->op == PLAN_SEND)
		f(to, in->from);
	if (in->op != PLAN_RUN)
		return;
	const plan_node *n = &p->nodes[in->node];
	for (int i = 0; i < p->kernels[n->kernel].kernel->ninputs; i++)
		f(to, in->inputs[i]);
}

/* The common instant of the instructions of a bucket, or of a chain. */
typedef struct clock {
	lifetime *lives;
	int from, to; /* first and last instruction at that instant */
} clock;

static void read_now(void *to, int buffer)
{
	clock *c = to;
	if (c->lives[buffer].last < c->to)
		c->lives[buffer].last = c->to;
}

/* Extends a stored block's lifetime as its tensor's role, rather than the
 * program, requires. */
static void keep_stored(const plan *p, const plan_tensor *t, lifetime *l)
{
	lifetime *x = &l[t->buffer];
	bool written = x->first < p->ninstrs;
	if (p->loop.turns > 0 && t->time != CUT_NONE)
		return;
	if (t->role != PLAN_RESULT)
		x->first = -1;
	if (t->role == PLAN_STATE && t->next >= 0 && !written)
		l[p->tensors[t->next].buffer].last = p->ninstrs;
	else if (t->role == PLAN_STATE || t->role == PLAN_CONSTANT || t->output)
		x->last = p->ninstrs;
}

/* Extends lifetimes over the loop: a buffer that the body reads but does not
 * write must outlive it; a value that goes from turn to turn exists from the
 * loop's beginning, but its first value only until it is read. */
static void keep_in_loop(const plan *p, lifetime *l)
{
	const plan_loop *o = &p->loop;
	for (int b = 0; b < p->nbuffers; b++) {
		const plan_tensor *t = &p->tensors[p->buffers[b].tensor];
		bool carried = t->then >= 0 && t->buffer == b;
		if (!carried && l[b].first < o->begin &&
		    l[b].last >= o->begin && l[b].last < o->end)
			l[b].last = o->end;
	}
	for (int t = 0; t < p->ntensors; t++)
		if (p->tensors[t].then >= 0) {
			int g = p->tensors[p->tensors[t].then].buffer;
			if (l[g].first > o->begin)
				l[g].first = o->begin;
			if (l[g].last < o->end)
				l[g].last = o->end;
		}
}

/* Extends lifetimes in a stage: slots are in use while the body runs, buffers
 * that are sent until the run ends, because their readers take them at any
 * time. */
static void keep_in_stage(const plan *p, lifetime *l)
{
	bool rolled = p->loop.begin < p->loop.end;
	int begin = rolled ? p->loop.begin : p->body_begin;
	int end = rolled ? p->loop.end : p->body_end;
	for (int b = 0; b < p->nbuffers; b++) {
		int slots = p->buffers[b].slots;
		if (slots > 0 && l[b].first > begin)
			l[b].first = begin;
		if (slots > 0 && l[b].last < end)
			l[b].last = end;
	}
	for (int i = 0; i < p->ninstrs; i++)
		if (p->program[i].op == PLAN_SEND)
			l[p->program[i].from].last = p->ninstrs;
	for (int b = 0; b < p->nbuffers; b++)
		if (p->buffers[b].slots < 0)
			l[b] = (lifetime){ p->ninstrs, -1 };
}

lifetime *plan_lifetimes(arena *a, const plan *p)
{
	lifetime *l = ARENA_ARRAY(a, lifetime, p->nbuffers);
	clock c = { l, 0, -1 };
	for (int b = 0; b < p->nbuffers; b++)
		l[b] = (lifetime){ p->ninstrs, -1 };
	for (int i = 0; i < p->ninstrs; i++) {
		const plan_instr *in = &p->program[i];
		if (i > c.to)
			c = (clock){ l, i, plan_step_end(p, i) - 1 };
		plan_reads(p, in, read_now, &c);
		if (l[in->to].first > c.from)
			l[in->to].first = c.from;
		read_now(&c, in->to);
	}
	for (int t = 0; t < p->ntensors; t++)
		if (p->tensors[t].buffer >= 0)
			keep_stored(p, &p->tensors[t], l);
	if (p->loop.begin < p->loop.end)
		keep_in_loop(p, l);
	if (p->stage)
		keep_in_stage(p, l);
	return l;
}

bool plan_may_overwrite(const plan *p, const lifetime *l, int t, int from)
{
	const plan_instr *in = &p->program[t];
	if (in->op != PLAN_RUN || in->chain > 0 || l[from].last != t ||
	    l[from].first >= t)
		return false;
	const kernel *k = p->kernels[p->nodes[in->node].kernel].kernel;
	bool any = false;
	for (int i = 0; i < k->ninputs; i++) {
		if (in->inputs[i] != from)
			continue;
		if (!kernel_in_place(k, i))
			return false;
		any = true;
	}
	return any;
}

/* ---- placing ----------------------------------------------------------- */

typedef struct placer {
	const plan *p;
	lifetime *lives;
	layout_classes *classes;
	/* Buffers that share a place form a group.  group[b] leads to the first
	 * of them; its heir[] is the buffer that has to take over the place, or
	 * -1. */
	int *group, *heir;
} placer;

static int group_of(int *group, int b)
{
	while (group[b] != b)
		b = group[b] = group[group[b]];
	return b;
}

/* Joins next values that have to be in the place of their state. */
static void join_states(const placer *s)
{
	const plan *p = s->p;
	for (int b = 0; b < p->nbuffers; b++) {
		s->group[b] = b;
		s->heir[b] = -1;
	}
	for (int t = 0; t < p->ntensors; t++) {
		const plan_tensor *x = &p->tensors[t];
		if (x->role != PLAN_STATE || x->next < 0 ||
		    s->lives[x->buffer].last == p->ninstrs)
			continue;
		int next = p->tensors[x->next].buffer;
		s->heir[x->buffer] = next;
		s->group[next] = x->buffer;
	}
}

/* Whether the result of instruction t may be in the place of its input `from',
 * whose last use this is. */
static bool is_in_place(const placer *s, int t, int from)
{
	const plan_buffer *x = &s->p->buffers[from];
	const plan_buffer *to = &s->p->buffers[s->p->program[t].to];
	return plan_may_overwrite(s->p, s->lives, t, from) &&
	       x->slots == 0 && to->slots == 0 && x->nbytes == to->nbytes &&
	       layout_class_same(s->classes,
				 plan_buffer_class(s->classes, s->p, x),
				 plan_buffer_class(s->classes, s->p, to));
}

/* Whether a place is free when the buffer that must take it over begins. */
static bool leaves_in_time(const placer *s, int buffer, int heir)
{
	int t = s->lives[heir].first, last = s->lives[buffer].last;
	return last < t || (last == t && is_in_place(s, t, buffer));
}

/* Puts results of runs in the place of an input with the same region that ends
 * there. */
static void join_in_place(const placer *s)
{
	const plan *p = s->p;
	for (int t = 0; t < p->ninstrs; t++) {
		const plan_instr *in = &p->program[t];
		if (in->op != PLAN_RUN || s->group[in->to] != in->to)
			continue;
		const plan_node *n = &p->nodes[in->node];
		int ninputs = p->kernels[n->kernel].kernel->ninputs;
		for (int i = 0; i < ninputs; i++) {
			int from = in->inputs[i];
			if (!is_in_place(s, t, from))
				continue;
			int g = group_of(s->group, from), heir = s->heir[g];
			if (heir >= 0 && !leaves_in_time(s, in->to, heir))
				continue;
			s->group[in->to] = g;
			break;
		}
	}
}

plan_places plan_find_places(arena *a, const plan *p, layout_classes *f)
{
	placer s = { p, plan_lifetimes(a, p), f,
		     ARENA_ARRAY(a, int, p->nbuffers),
		     ARENA_ARRAY(a, int, p->nbuffers) };
	const lifetime *l = s.lives;
	arena_item *items = ARENA_ARRAY(a, arena_item, p->nbuffers);
	join_states(&s);
	join_in_place(&s);
	for (int b = 0; b < p->nbuffers; b++) {
		arena_item *m = &items[group_of(s.group, b)];
		bool fresh = m->nbytes == 0;
		s.group[b] = group_of(s.group, b);
		if (l[b].first > l[b].last)
			continue;
		m->nbytes = plan_buffer_span(&p->buffers[b]);
		if (fresh || l[b].first < m->first)
			m->first = l[b].first;
		if (fresh || l[b].last > m->last)
			m->last = l[b].last;
	}
	return (plan_places){ s.group, items };
}

int64_t plan_place_with(plan *p, layout_classes *f)
{
	arena *tmp = arena_new();
	plan_places x = plan_find_places(tmp, p, f);
	p->arena_bytes = memory_place(x.items, p->nbuffers, PLAN_ALIGN);
	for (int b = 0; b < p->nbuffers; b++)
		p->buffers[b].offset = x.items[x.group[b]].offset;
	int64_t bound = memory_bound(x.items, p->nbuffers, PLAN_ALIGN);
	arena_free(tmp);
	return bound;
}

int64_t plan_place(plan *p)
{
	arena *tmp = arena_new();
	int64_t bound = plan_place_with(p, layout_classes_new(tmp, &p->mesh));
	arena_free(tmp);
	return bound;
}
