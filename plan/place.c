#include "config.h"

#include "plan/place.h"

#include <string.h>

#include "plan/memory.h"

void plan_reads(const plan *p, const plan_instr *in,
		void (*f)(void *to, int buffer), void *to)
{
	if (in->op != PLAN_RUN) {
		f(to, in->from);
		return;
	}
	const plan_node *n = &p->nodes[in->node];
	for (int i = 0; i < p->kernels[n->kernel].kernel->ninputs; i++)
		f(to, in->inputs[i]);
}

typedef struct clock {
	lifetime *lives;
	int now;
} clock;

static void read_now(void *to, int buffer)
{
	clock *c = to;
	if (c->lives[buffer].last < c->now)
		c->lives[buffer].last = c->now;
}

/* What the program does not say of the lifetime of a stored block. */
static void keep_stored(const plan *p, const plan_tensor *t, lifetime *l)
{
	lifetime *x = &l[t->buffer];
	bool written = x->first < p->ninstrs;
	if (t->role != PLAN_RESULT)
		x->first = -1;
	if (t->role == PLAN_STATE && t->next >= 0 && !written)
		l[p->tensors[t->next].buffer].last = p->ninstrs;
	else if (t->role == PLAN_STATE || t->role == PLAN_CONSTANT || t->output)
		x->last = p->ninstrs;
}

lifetime *plan_lifetimes(arena *a, const plan *p)
{
	lifetime *l = ARENA_ARRAY(a, lifetime, p->nbuffers);
	clock c = { l, 0 };
	for (int b = 0; b < p->nbuffers; b++)
		l[b] = (lifetime){ p->ninstrs, -1 };
	for (; c.now < p->ninstrs; c.now++) {
		const plan_instr *in = &p->program[c.now];
		plan_reads(p, in, read_now, &c);
		if (l[in->to].first > c.now)
			l[in->to].first = c.now;
		read_now(&c, in->to);
	}
	for (int t = 0; t < p->ntensors; t++)
		if (p->tensors[t].buffer >= 0)
			keep_stored(p, &p->tensors[t], l);
	return l;
}

bool plan_may_overwrite(const plan *p, const lifetime *l, int t, int from)
{
	const plan_instr *in = &p->program[t];
	if (in->op != PLAN_RUN || l[from].last != t || l[from].first >= t)
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

/* ---- regions on every worker ------------------------------------------- */

/* The axes on which the region of a buffer depends, one bit each. */
static uint32_t axes_of(const plan *p, const plan_buffer *b)
{
	uint32_t axes = 0;
	for (int a = 0; a < p->mesh.naxes; a++)
		if ((b->region != PLAN_STORED &&
		     p->nodes[b->node].cuts.dim[a] != CUT_NONE) ||
		    ((b->region == PLAN_STORED || b->region == PLAN_OWN) &&
		     p->tensors[b->tensor].cuts.dim[a] != CUT_NONE))
			axes |= UINT32_C(1) << a;
	return axes;
}

static bool next_coords(const mesh *m, uint32_t axes, int *coords)
{
	for (int a = m->naxes - 1; a >= 0; a--) {
		if (!(axes >> a & 1))
			continue;
		if (++coords[a] < m->size[a])
			return true;
		coords[a] = 0;
	}
	return false;
}

static bool same(const region *x, const region *y)
{
	return (x->count == 0 && y->count == 0) ||
	       (box_equal(&x->at, &y->at) && x->first == y->first &&
		x->count == y->count);
}

/* Whether x covers y; only whole boxes cover. */
static bool covers(const region *x, const region *y)
{
	return y->count == 0 ||
	       (box_contains(&x->at, &y->at) && x->first == 0 &&
		x->count == box_volume(&x->at));
}

static bool on_all(const plan *p, const plan_buffer *x, const plan_buffer *y,
		   bool (*holds)(const region *, const region *))
{
	int coords[MAX_AXES] = { 0 };
	uint32_t axes = axes_of(p, x) | axes_of(p, y);
	do {
		region rx = plan_region_at(p, x, coords);
		region ry = plan_region_at(p, y, coords);
		if (!holds(&rx, &ry))
			return false;
	} while (next_coords(&p->mesh, axes, coords));
	return true;
}

static bool same_block(const plan_tensor *t, const plan_tensor *u)
{
	return t->ndim == u->ndim &&
	       !memcmp(t->dims, u->dims, (size_t)t->ndim * sizeof(*t->dims)) &&
	       !memcmp(&t->cuts, &u->cuts, sizeof(cuts));
}

/* Formulas that read the same, so that nothing has to be evaluated. */
static bool same_formula(const plan *p, const plan_buffer *x,
			 const plan_buffer *y)
{
	if (x->region == PLAN_STORED && y->region == PLAN_STORED)
		return same_block(&p->tensors[x->tensor],
				  &p->tensors[y->tensor]);
	if (x->tensor != y->tensor || x->region != y->region)
		return false;
	if (x->node == y->node)
		return true;
	const plan_node *m = &p->nodes[x->node], *n = &p->nodes[y->node];
	if (m->kernel != n->kernel || memcmp(&m->cuts, &n->cuts, sizeof(cuts)))
		return false;
	int ninputs = p->kernels[m->kernel].kernel->ninputs;
	for (int i = 0; i < ninputs; i++)
		if ((m->inputs[i] == x->tensor) != (n->inputs[i] == x->tensor))
			return false;
	return true;
}

bool plan_same_region(const plan *p, const plan_buffer *x,
		      const plan_buffer *y)
{
	return same_formula(p, x, y) || on_all(p, x, y, same);
}

bool plan_covers(const plan *p, const plan_buffer *x, const plan_buffer *y)
{
	return (same_formula(p, x, y) && x->region != PLAN_OWN) ||
	       on_all(p, x, y, covers);
}

int64_t plan_buffer_nbytes(const plan *p, const plan_buffer *b)
{
	int coords[MAX_AXES] = { 0 };
	int64_t most = 0;
	uint32_t axes = axes_of(p, b);
	do {
		region r = plan_region_at(p, b, coords);
		most = r.count > most ? r.count : most;
	} while (next_coords(&p->mesh, axes, coords));
	return most * (int64_t)dtype_size(p->tensors[b->tensor].type);
}

/* ---- placing ----------------------------------------------------------- */

/* Buffers that share a place are one group; group[b] is the first of them. */
static int group_of(int *group, int b)
{
	while (group[b] != b)
		b = group[b] = group[group[b]];
	return b;
}

/* Next values that have to lie in the place of their state. */
static void join_states(const plan *p, const lifetime *l, int *group, int *heir)
{
	for (int b = 0; b < p->nbuffers; b++) {
		group[b] = b;
		heir[b] = -1;
	}
	for (int t = 0; t < p->ntensors; t++) {
		const plan_tensor *x = &p->tensors[t];
		if (x->role != PLAN_STATE || x->next < 0 ||
		    l[x->buffer].last == p->ninstrs)
			continue;
		heir[x->buffer] = p->tensors[x->next].buffer;
		group[heir[x->buffer]] = x->buffer;
	}
}

/* Whether what instruction t writes may lie where its input `from` dies. */
static bool is_in_place(const plan *p, const lifetime *l, int t, int from)
{
	const plan_buffer *to = &p->buffers[p->program[t].to];
	return plan_may_overwrite(p, l, t, from) &&
	       p->buffers[from].nbytes == to->nbytes &&
	       plan_same_region(p, &p->buffers[from], to);
}

/* Whether a place is free again when the one who has a right to it comes. */
static bool leaves_in_time(const plan *p, const lifetime *l, int buffer,
			   int heir)
{
	int t = l[heir].first;
	return l[buffer].last < t ||
	       (l[buffer].last == t && is_in_place(p, l, t, buffer));
}

/* Lets results of runs lie where an input of the same region dies. */
static void join_in_place(const plan *p, const lifetime *l, int *group,
			  const int *heir)
{
	for (int t = 0; t < p->ninstrs; t++) {
		const plan_instr *in = &p->program[t];
		if (in->op != PLAN_RUN || group[in->to] != in->to)
			continue;
		const plan_node *n = &p->nodes[in->node];
		int ninputs = p->kernels[n->kernel].kernel->ninputs;
		for (int i = 0; i < ninputs; i++) {
			int from = in->inputs[i];
			if (!is_in_place(p, l, t, from))
				continue;
			int g = group_of(group, from);
			if (heir[g] >= 0 &&
			    !leaves_in_time(p, l, in->to, heir[g]))
				continue;
			group[in->to] = g;
			break;
		}
	}
}

int64_t plan_place(plan *p)
{
	arena *tmp = arena_new();
	lifetime *l = plan_lifetimes(tmp, p);
	int *group = ARENA_ARRAY(tmp, int, p->nbuffers);
	int *heir = ARENA_ARRAY(tmp, int, p->nbuffers);
	memory_item *items = ARENA_ARRAY(tmp, memory_item, p->nbuffers);
	join_states(p, l, group, heir);
	join_in_place(p, l, group, heir);
	for (int b = 0; b < p->nbuffers; b++) {
		memory_item *m = &items[group_of(group, b)];
		bool fresh = m->nbytes == 0;
		if (l[b].first > l[b].last)
			continue;
		m->nbytes = p->buffers[b].nbytes;
		if (fresh || l[b].first < m->first)
			m->first = l[b].first;
		if (fresh || l[b].last > m->last)
			m->last = l[b].last;
	}
	p->arena_bytes = memory_place(items, p->nbuffers, PLAN_ALIGN);
	for (int b = 0; b < p->nbuffers; b++)
		p->buffers[b].offset = items[group_of(group, b)].offset;
	int64_t bound = memory_bound(items, p->nbuffers, PLAN_ALIGN);
	arena_free(tmp);
	return bound;
}
