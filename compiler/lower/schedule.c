#include "config.h"

#include "compiler/lower/schedule.h"

#include <string.h>

#include "base/checked.h"

/* ---- jobs -------------------------------------------------------------- */

static int64_t nbytes_of(const plan *p, int buffer)
{
	return round_up(p->buffers[buffer].nbytes, PLAN_ALIGN);
}

/* Whether a node may write its result over this input. */
static bool yields(const outline *o, int n, int input)
{
	const plan *p = o->p;
	const plan_node *x = &p->nodes[n];
	const kernel *k = p->kernels[x->kernel].kernel;
	const node_buffers *b = &o->nodes[n];
	const plan_buffer *from = &p->buffers[b->sources[input]];
	for (int i = 0; i < k->ninputs; i++)
		if (x->inputs[i] == x->inputs[input] && !kernel_in_place(k, i))
			return false;
	return layout_class_same(
		o->classes, plan_buffer_class(o->classes, p, from),
		plan_buffer_class(o->classes, p, &p->buffers[b->made]));
}

static void set_uses(const outline *o, int n, sched_node *j)
{
	const plan *p = o->p;
	const plan_node *x = &p->nodes[n];
	const node_buffers *b = &o->nodes[n];
	int ninputs = p->kernels[x->kernel].kernel->ninputs;
	j->uses = ARENA_ARRAY(o->a, use, ninputs);
	for (int i = 0; i < ninputs; i++) {
		int t = x->inputs[i], same = 0;
		while (x->inputs[same] != t)
			same++;
		if (same < i)
			continue;
		bool stored = b->sources[i] == p->tensors[t].buffer;
		j->uses[j->nuses++] = (use){ t, stored, yields(o, n, i) };
		if (!stored)
			j->fetched += nbytes_of(p, b->sources[i]);
	}
}

static void set_readers(jobs *x)
{
	const plan *p = x->p;
	x->nreaders = ARENA_ARRAY(x->tmp, int, p->ntensors);
	x->readers = ARENA_ARRAY(x->tmp, int *, p->ntensors);
	for (int pass = 0; pass < 2; pass++) {
		for (int t = 0; t < p->ntensors; t++) {
			if (pass)
				x->readers[t] = ARENA_ARRAY(x->tmp, int,
							    x->nreaders[t]);
			x->nreaders[t] = 0;
		}
		for (int n = 0; n < p->nnodes; n++)
			for (int i = 0; i < x->jobs[n].nuses; i++) {
				int t = x->jobs[n].uses[i].tensor;
				int at = x->nreaders[t]++;
				if (pass)
					x->readers[t][at] = n;
			}
	}
}

static void set_makers(jobs *x)
{
	const plan *p = x->p;
	x->maker = ARENA_ARRAY(x->tmp, int, p->ntensors);
	for (int t = 0; t < p->ntensors; t++)
		x->maker[t] = -1;
	for (int n = 0; n < p->nnodes; n++)
		x->maker[p->nodes[n].output] = n;
	for (int t = 0; t < p->ntensors; t++)
		if (p->tensors[t].role == PLAN_STATE && p->tensors[t].next >= 0)
			x->jobs[x->maker[p->tensors[t].next]].state = t;
}

jobs jobs_of(const outline *o)
{
	const plan *p = o->p;
	jobs x = { .tmp = o->a, .p = p };
	x.jobs = ARENA_ARRAY(o->a, sched_node, p->nnodes);
	x.nbytes = ARENA_ARRAY(o->a, int64_t, p->ntensors);
	for (int t = 0; t < p->ntensors; t++)
		if (p->tensors[t].buffer >= 0)
			x.nbytes[t] = nbytes_of(p, p->tensors[t].buffer);
	for (int n = 0; n < p->nnodes; n++) {
		const node_buffers *b = &o->nodes[n];
		sched_node *j = &x.jobs[n];
		j->state = -1;
		if (b->made != b->stored)
			j->made = nbytes_of(p, b->made);
		if (b->shard >= 0 && b->shard != b->stored)
			j->shard = nbytes_of(p, b->shard);
		set_uses(o, n, j);
	}
	set_makers(&x);
	set_readers(&x);
	return x;
}

/* ---- liveness ---------------------------------------------------------- */

liveness liveness_new(const jobs *x)
{
	const plan *p = x->p;
	liveness c = { .x = x };
	c.left = ARENA_COPY(x->tmp, x->nreaders, p->ntensors);
	c.waiting = ARENA_ARRAY(x->tmp, int64_t, p->ntensors);
	for (int t = 0; t < p->ntensors; t++)
		if (p->tensors[t].role != PLAN_RESULT)
			c.in_use += x->nbytes[t];
	return c;
}

bool liveness_may_update(const liveness *c, int state, int n)
{
	const sched_node *j = &c->x->jobs[n];
	int left = c->left[state];
	for (int i = 0; i < j->nuses; i++)
		left -= j->uses[i].tensor == state;
	return left == 0;
}

/* Whether a node that computes a state's next value writes it over the old
 * one. */
static bool replaces(const liveness *c, int n)
{
	const sched_node *j = &c->x->jobs[n];
	if (j->state < 0 || !liveness_may_update(c, j->state, n))
		return false;
	for (int i = 0; i < j->nuses; i++)
		if (j->uses[i].tensor == j->state && j->uses[i].stored &&
		    (!j->uses[i].yields || j->made > 0))
			return false;
	return true;
}

/* Whether a tensor's block is freed after its last reader.  A next value that
 * has to be copied to the state is freed after the state's last reader. */
static bool is_freed(const liveness *c, int tensor)
{
	const plan_tensor *t = &c->x->p->tensors[tensor];
	int n = c->x->maker[tensor];
	int state = n >= 0 ? c->x->jobs[n].state : -1;
	if (state >= 0)
		return c->left[state] == 0 && c->waiting[state] > 0;
	return !t->output && (t->role == PLAN_INPUT || t->role == PLAN_RESULT);
}

/* The bytes freed when node n has run.  *early are those of them freed as soon
 * as its inputs are fetched, because it reads copies.  Sets *place to whether
 * the result takes the place of an input. */
static int64_t freed_by(const liveness *c, int n, int64_t *early, bool *place)
{
	const sched_node *j = &c->x->jobs[n];
	int64_t sum = 0;
	*early = 0;
	*place = false;
	for (int i = 0; i < j->nuses; i++) {
		const use *u = &j->uses[i];
		bool last = c->left[u->tensor] == 1 && is_freed(c, u->tensor);
		int64_t bytes = last ? c->x->nbytes[u->tensor] : 0;
		sum += bytes;
		if (!u->stored)
			*early += bytes;
		if (u->yields && (last || !u->stored))
			*place = true;
	}
	return sum;
}

/* The bytes of the stored result, which are in use from then on. */
static int64_t added_by(const liveness *c, int n)
{
	const jobs *x = c->x;
	int t = x->p->nodes[n].output;
	bool kept = x->nreaders[t] > 0 || x->p->tensors[t].output ||
		    x->jobs[n].state >= 0;
	return kept && !replaces(c, n) ? x->nbytes[t] : 0;
}

int64_t liveness_change(const liveness *c, int n)
{
	int64_t early;
	bool place;
	return added_by(c, n) - freed_by(c, n, &early, &place);
}

static int64_t max64(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

int64_t liveness_run(liveness *c, int n)
{
	const sched_node *j = &c->x->jobs[n];
	int64_t early, most, added = added_by(c, n);
	int64_t stored = c->x->nbytes[c->x->p->nodes[n].output];
	bool place, replaced = replaces(c, n);
	int64_t freed = freed_by(c, n, &early, &place);
	int64_t made = j->made > 0 ? j->made : replaced ? 0 : stored;
	most = c->in_use + j->fetched - early + (place ? 0 : made);
	c->in_use -= freed;
	if (j->made > 0) {
		int64_t last = replaced ? 0 : stored;
		int64_t next = j->shard > 0 ? j->shard : last;
		most = max64(most, c->in_use + j->made + next);
		if (j->shard > 0)
			most = max64(most, c->in_use + j->shard + last);
	}
	c->in_use += added;
	if (j->state >= 0 && !replaced) {
		c->waiting[j->state] = stored;
		c->copied += stored;
	}
	for (int i = 0; i < j->nuses; i++) {
		int t = j->uses[i].tensor;
		c->left[t]--;
		if (c->waiting[t] > 0 && c->left[t] == 0 &&
		    c->left[c->x->p->tensors[t].next] == 0)
			c->in_use -= c->waiting[t];
	}
	return max64(most, c->in_use);
}

int64_t schedule_peak(const jobs *x, const int *order, int64_t *copied)
{
	liveness c = liveness_new(x);
	int64_t most = c.in_use;
	for (int i = 0; i < x->p->nnodes; i++)
		most = max64(most, liveness_run(&c, order[i]));
	*copied = c.copied;
	return most;
}

/* ---- the order of least memory ----------------------------------------- */

/* Puts the sections of a loop one after the other.  Each keeps its order. */
static void part_sections(const outline *o, int *order)
{
	int n = o->p->nnodes, at = 0;
	int *by = ARENA_ARRAY(o->a, int, n);
	for (int s = SECTION_BEFORE; s <= SECTION_AFTER; s++)
		for (int i = 0; i < n; i++)
			if ((int)o->sections[order[i]] == s)
				by[at++] = order[i];
	memcpy(order, by, (size_t)n * sizeof(*order));
}

static const int *best_order(const outline *o, const jobs *x, lower_order by)
{
	enum { NORDERS = 4 };
	int *orders[NORDERS], best = 0;
	int64_t least = INT64_MAX, copied = 0, copies;
	orders[0] = schedule_levels(x, by);
	orders[1] = schedule_late(x, orders[0]);
	orders[2] = schedule_early(x, orders[0]);
	orders[3] = schedule_late(x, orders[2]);
	for (int i = 0; i < NORDERS; i++) {
		if (o->sections)
			part_sections(o, orders[i]);
		int64_t most = schedule_peak(x, orders[i], &copies);
		if (most > least || (most == least && copies >= copied))
			continue;
		best = i;
		least = most;
		copied = copies;
	}
	return orders[best];
}

const int *program_order(outline *o, lower_order by)
{
	if (o->orders[by])
		return o->orders[by];
	jobs x = *o->jobs;
	x.tmp = arena_new();
	o->orders[by] = ARENA_COPY(o->a, best_order(o, &x, by), x.p->nnodes);
	arena_free(x.tmp);
	return o->orders[by];
}

const int *program_order_overlapping(outline *o, lower_order by)
{
	if (o->overlapping[by])
		return o->overlapping[by];
	jobs x = *o->jobs;
	x.tmp = arena_new();
	int *order = schedule_overlapping(&x, program_order(o, by));
	if (o->sections)
		part_sections(o, order);
	o->overlapping[by] = ARENA_COPY(o->a, order, x.p->nnodes);
	arena_free(x.tmp);
	return o->overlapping[by];
}
